import Foundation

/// The system calls on which a stored key's safety depends, as a parameter: a killed process does not lose data that is not on the disk
/// yet, so only the calls' order shows whether a loss of power would.
package struct FileCalls: Sendable {
    /// Writes bytes to an open file, and returns the number written, or a negative number with a reason in `errno`.
    var write: @Sendable (_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int
    /// Writes an open file's bytes, or an open folder's names, to the disk before it returns.
    var synchronize: @Sendable (_ file: Int32) -> Bool
    /// Renames a file over another.
    var rename: @Sendable (_ old: String, _ new: String) -> Bool

    /// Makes calls. Defaults to the system's.
    package init(
        write: @escaping @Sendable (_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int = Self.put,
        synchronize: @escaping @Sendable (_ file: Int32) -> Bool = Self.flush,
        rename: @escaping @Sendable (_ old: String, _ new: String) -> Bool = Self.move
    ) {
        self.write = write
        self.synchronize = synchronize
        self.rename = rename
    }

    package static func put(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        Foundation.write(file, bytes.baseAddress, bytes.count)
    }

    package static func flush(_ file: Int32) -> Bool {
        #if canImport(Darwin)
            // Darwin's fsync leaves the bytes in the drive's cache.
            if fcntl(file, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(file) == 0
    }

    package static func move(_ old: String, _ new: String) -> Bool { Foundation.rename(old, new) == 0 }
}
