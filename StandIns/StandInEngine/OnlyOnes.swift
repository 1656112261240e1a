import LatchkeyCore

extension StandInStage {
    /// An SDK's shared object of a kind: one per stage, and one for the process without a current stage.
    /// - Parameter make: makes the object on first use.
    public static func only<Value: Sendable>(_ make: () -> Value) -> Value {
        (current?.onlyOnes ?? OnlyOnes.ofProcess).only(make)
    }

    /// The stage's shared object of a kind.
    public func only<Value: Sendable>(_ make: () -> Value) -> Value { onlyOnes.only(make) }
}

/// A shared object of a type that is not `Sendable` in its SDK.
// Sound: the object's stand-in keeps its mutable state behind a lock.
public struct Only<Object: AnyObject>: @unchecked Sendable {
    /// The object.
    public let object: Object

    /// - Parameter object: the object.
    public init(_ object: Object) { self.object = object }
}

/// The shared objects, one of each kind.
final class OnlyOnes: Sendable {
    static let ofProcess = OnlyOnes()

    private let objects = Locked<[ObjectIdentifier: any Sendable]>([:])

    func only<Value: Sendable>(_ make: () -> Value) -> Value {
        objects.withLock { objects in
            let kind = ObjectIdentifier(Value.self)
            if let object = objects[kind] as? Value { return object }
            let object = make()
            objects[kind] = object
            return object
        }
    }
}
