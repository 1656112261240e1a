package import Foundation

/// Writes a file through a partial file next to it, so that it exists completely or not at all.
package enum PartialFile {
    /// Writes a file and replaces an existing one. Follows a symbolic link. Writes directly into anything that is not an ordinary
    /// file, such as a pipe. If a signal ends the process, the partial file is removed.
    /// - Parameters:
    ///   - path: the output path.
    ///   - mode: the permissions, before the umask.
    ///   - data: the contents.
    /// - Throws: a `POSIXError` with the system's reason; `CancellationError` while the process ends.
    package static func write(_ data: Data, to path: String, mode: mode_t) throws {
        var status = stat()
        let isThere = stat(path, &status) == 0
        guard !isThere || status.st_mode & S_IFMT == S_IFREG else { return try writeInto(data, path) }
        try replace(isThere ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path, data, mode)
    }

    private static func replace(_ path: String, _ data: Data, _ mode: mode_t) throws {
        let partial = "\(path).\(UInt32.random(in: 0...(.max))).part"
        try Leftovers.add(partial)
        defer { Leftovers.forget(partial) }
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure() }
        var error: POSIXError?
        if !write(data, to: descriptor) || fsync(descriptor) != 0 { error = failure() }
        close(descriptor)
        if error == nil, rename(partial, path) != 0 { error = failure() }
        if let error {
            unlink(partial)
            throw error
        }
    }

    private static func writeInto(_ data: Data, _ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        guard write(data, to: descriptor) else { throw failure() }
    }

    /// Writes all bytes to an open file.
    /// - Returns: whether it succeeded. If not, `errno` has the reason.
    package static func write(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Foundation.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard written > 0 || (written < 0 && errno == EINTR) else { return false }
                rest = rest.dropFirst(max(0, written))
            }
            return true
        }
    }

    private static func failure() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
