import LatchkeyCore

/// Bytes that one call may write and that are erased when the last reference goes.
///
/// The working memory of an exchange: one allocation for all its secrets, where a `Secret` each would be many.
// Sound because whoever makes one writes it before sharing it; `KeyServerModuleTests` opens one context from many tasks.
package final class ErasedBytes: @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// - Parameter count: how many bytes; they start as zeros.
    package init(count: Int) {
        storage = .allocate(byteCount: count, alignment: 8)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        LatchkeyCore.erase(storage)
        storage.deallocate()
    }

    /// The number of bytes.
    package var count: Int { storage.count }

    /// Lends the bytes to be read. Do not keep the pointer.
    package func read<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(rebasing: storage[range]))
    }

    /// Lends the bytes to be written, before anybody else sees them. Do not keep the pointer.
    package func write<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeMutableRawBufferPointer(rebasing: storage[range]))
    }
}

/// Overwrites an array's bytes, in a way that the optimizer keeps.
package func erase(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { LatchkeyCore.erase($0) }
}
