import Foundation

/// Writes files whole or not at all.
enum OutputFile {
    /// Who may read a file.
    enum Readers: mode_t, Sendable {
        /// Its owner alone: mode 0600.
        case owner = 0o600
        /// Everybody whom the umask lets.
        case everyone = 0o666
    }

    /// What to do where a file is in the way.
    enum Existing: Sendable { case replace, refuse }

    /// Writes a file by way of a temporary one beside it; to standard output for `-`, and straight into what is no
    /// ordinary file, such as a pipe.
    ///
    /// - Throws: `FileError` with `cannotWrite` or `fileExists`.
    static func write(
        _ data: Data, to path: String, for readers: Readers, ifExists existing: Existing = .replace, _ console: Console
    ) throws {
        if path == "-" { return console.output.write(data) }
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, existing == .refuse { throw FileError.exists(path) }
        if isThere, status.st_mode & S_IFMT != S_IFREG { return try writeInPlace(data, path) }
        let target = isThere ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
        try replace(target, with: data, readers)
    }

    /// Writes all bytes to an open file; false with `errno` set where that fails.
    static func write(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Foundation.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno != EINTR { return false }
                rest = rest.dropFirst(max(0, written))
            }
            return true
        }
    }

    private static func replace(_ path: String, with data: Data, _ readers: Readers) throws {
        let temporary = "\(path).\(UInt32.random(in: 0...(.max))).part"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, readers.rawValue)
        guard descriptor >= 0 else { throw FileError.cannotWrite(path) }
        let isWritten = write(data, to: descriptor) && fsync(descriptor) == 0
        let error = isWritten ? nil : FileError.cannotWrite(path)
        close(descriptor)
        guard error == nil, rename(temporary, path) == 0 else {
            defer { unlink(temporary) }
            throw error ?? FileError.cannotWrite(path)
        }
    }

    private static func writeInPlace(_ data: Data, _ path: String) throws {
        let descriptor = open(path, O_WRONLY)
        guard descriptor >= 0 else { throw FileError.cannotWrite(path) }
        defer { close(descriptor) }
        guard write(data, to: descriptor) else { throw FileError.cannotWrite(path) }
    }
}
