/// A large value behind a reference, so that copying its owner costs one reference count.
///
/// Stays a value: a write to one copy does not affect others. Other rooms compile it for their own values: unspecialized, each
/// access would copy the whole value.
@propertyWrapper package struct CopyOnWrite<Value: Sendable>: Sendable {
    // Sound because a box is written to only while nothing else refers to it.
    @usableFromInline final class Box: @unchecked Sendable {
        @usableFromInline var value: Value
        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    @inlinable package init(wrappedValue: Value) { box = Box(wrappedValue) }

    @inlinable package var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}

extension CopyOnWrite: Equatable where Value: Equatable {
    @inlinable package static func == (one: Self, other: Self) -> Bool {
        one.box === other.box || one.wrappedValue == other.wrappedValue
    }
}

extension CopyOnWrite: Hashable where Value: Hashable {
    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
