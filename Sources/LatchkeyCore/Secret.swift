public import Foundation

/// Bytes that must never be shown: a token, a key, an SPC, a CKC, or a URL that carries a token.
///
/// Printing, interpolating, dumping and logging it gives a length and a short digest, which is enough to tell two secrets apart
/// and to follow one through a log. The bytes are erased when the last copy is released. A comparison of two secrets of equal
/// length takes the same time for equal and unequal bytes. It is not `Codable`, so that no encoder writes it by accident.
public struct Secret: Sendable {
    private let storage: Storage

    /// - Parameter bytes: the bytes, which are copied. The caller may erase its own copy.
    public init(_ bytes: some Collection<UInt8>) { storage = Storage(bytes) }

    /// - Parameter text: the text, encoded as UTF-8.
    public init(_ text: String) { self.init(Array(text.utf8)) }

    /// Takes ownership of a buffer. No other code frees it or writes to it afterwards.
    /// - Parameters:
    ///   - buffer: the bytes.
    ///   - free: frees the buffer. Called after the bytes were erased.
    package init(
        adopting buffer: UnsafeMutableRawBufferPointer,
        free: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void = { $0.deallocate() }
    ) {
        storage = Storage(adopting: buffer, free: free)
    }

    /// The number of bytes.
    package var count: Int { storage.buffer.count }

    /// Calls a closure with the bytes. Do not keep the pointer.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeRawBufferPointer(storage.buffer))
    }

    /// A copy of the bytes, for an API that needs `Data`. The copy is not erased.
    public var revealed: Data { withUnsafeBytes { Data($0) } }

    /// A copy of the bytes as text, for a header or a URL. The copy is not erased.
    public var revealedText: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

    /// Six hexadecimal digits, equal for equal bytes: 24 bits of FNV-1a. For correlation, not for protection.
    package var digest: String {
        let hash = withUnsafeBytes { $0.stableHash() }
        let folded = (hash ^ (hash >> 24) ^ (hash >> 48)) & 0xff_ffff
        return [UInt8(folded >> 16), UInt8(folded >> 8 & 0xff), UInt8(folded & 0xff)].hexString
    }
}

extension Secret: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.withUnsafeBytes { one in right.withUnsafeBytes { other in constantTimeEquals(one, other) } }
    }

    public func hash(into hasher: inout Hasher) { withUnsafeBytes { hasher.combine(bytes: $0) } }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "‹secret, \(count) bytes, \(digest)›" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["secret": description]) }
}

/// Whether two byte strings are equal, in a time that depends only on their length.
package func constantTimeEquals(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}

/// Overwrites bytes in a way that the optimizer cannot remove.
package func erase(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    #if canImport(Darwin)
        memset_s(base, bytes.count, 0, bytes.count)
    #else
        explicit_bzero(base, bytes.count)
    #endif
}

// Sound because the buffer is written only before `init` returns and after the last reference is gone.
// `SecretTests` reads one secret from many tasks.
private final class Storage: @unchecked Sendable {
    let buffer: UnsafeMutableRawBufferPointer
    private let free: @Sendable (UnsafeMutableRawBufferPointer) -> Void

    init(
        adopting buffer: UnsafeMutableRawBufferPointer,
        free: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        self.buffer = buffer
        self.free = free
    }

    init(_ bytes: some Collection<UInt8>) {
        buffer = .allocate(byteCount: bytes.count, alignment: 1)
        free = { $0.deallocate() }
        let isCopied: Void? = bytes.withContiguousStorageIfAvailable {
            buffer.copyMemory(from: UnsafeRawBufferPointer($0))
        }
        if isCopied == nil { buffer.copyBytes(from: bytes) }
    }

    deinit {
        erase(buffer)
        free(buffer)
    }
}
