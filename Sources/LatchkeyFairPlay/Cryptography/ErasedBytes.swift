import LatchkeyCore

/// Bytes that are erased when the last reference is released.
///
/// Holds all secrets of an exchange in one allocation instead of one `Secret` each.
// Sound because the creator writes it before sharing it. `ContentKeyContextTests` answers one SPC from many tasks.
package final class ErasedBytes: @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// - Parameter count: the number of bytes. All start as zeros.
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

    /// Calls a closure with the bytes for reading. Do not keep the pointer.
    package func read<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(rebasing: storage[range]))
    }

    /// Calls a closure with the bytes for writing. Call it only before the object is shared. Do not keep the pointer.
    package func write<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeMutableRawBufferPointer(rebasing: storage[range]))
    }
}

/// Overwrites an array's bytes in a way that the optimizer cannot remove.
package func erase(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { LatchkeyCore.erase($0) }
}
