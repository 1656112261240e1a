import Foundation

extension String {
    /// Whether both texts have the same UTF-8 bytes. `==` also accepts other Unicode forms of a character.
    package func equalsByteForByte(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isEqual = utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { Self.areEqual($0, one) }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    private static func areEqual(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = one.baseAddress, let second = other.baseAddress else { return one.count == other.count }
        return memcmp(first, second, one.count) == 0
    }
}
