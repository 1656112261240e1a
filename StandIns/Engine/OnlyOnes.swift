import LatchkeyCore

extension StandInStage {
    /// The only object of its kind, as SDKs have them: one per stage, and one for the process where no stage is current.
    /// - Parameter make: makes it the first time.
    public static func only<Value: Sendable>(_ make: () -> Value) -> Value {
        (current?.onlyOnes ?? OnlyOnes.ofProcess).only(make)
    }

    /// The stage's only object of its kind.
    public func only<Value: Sendable>(_ make: () -> Value) -> Value { onlyOnes.only(make) }
}

/// Objects of which there is one each.
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
