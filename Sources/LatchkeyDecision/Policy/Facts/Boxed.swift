/// A large value behind a reference, so that a copy of what holds it costs one count.
///
/// Stays a value: what is written to one copy is not seen by others.
@propertyWrapper package struct Boxed<Value: Sendable>: Sendable {
    // Sound because a box is written to only while nothing else refers to it.
    private final class Box: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    package init(wrappedValue: Value) { box = Box(wrappedValue) }

    package var wrappedValue: Value {
        get { box.value }
        set {
            if isKnownUniquelyReferenced(&box) { box.value = newValue } else { box = Box(newValue) }
        }
    }
}

extension Boxed: Equatable where Value: Equatable {
    package static func == (one: Self, other: Self) -> Bool {
        one.box === other.box || one.wrappedValue == other.wrappedValue
    }
}

extension Boxed: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
