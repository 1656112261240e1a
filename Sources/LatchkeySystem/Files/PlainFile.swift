package import Foundation

/// Reads plain files whole, and never waits for anything else: a pipe, a socket or a device is refused by its kind.
///
/// Opening and reading block, and a network's file system may block forever: a server reads on `FileThreads`.
package enum PlainFile {
    /// The bytes of a file.
    /// - Parameter limit: the most bytes that it may have.
    /// - Throws: `cannotRead`, `notPlainFile` or `fileTooLarge`.
    package static func read(_ path: String, limit: Int) throws(FileError) -> Data {
        try read(path, limit: limit) { _ in true }
    }

    /// The bytes of a file whose facts the caller accepts. Facts and bytes are those of the same open file.
    /// - Parameters:
    ///   - limit: the most bytes that it may have.
    ///   - accepts: whether the file may be read.
    package static func read(
        _ path: String, limit: Int, accepting accepts: (stat) -> Bool
    ) throws(FileError) -> Data {
        FileThreads.visits(path)
        // Not to wait if there is a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let number = errno
            // The error of a socket, and of a device without a driver.
            throw number == ENXIO
                ? .notPlain(path, "It is a socket or a device, not a regular file") : .system(path, number)
        }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw .system(path, errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw .notPlain(path, "It is \(Self.kind(facts)), not a regular file")
        }
        guard accepts(facts) else { throw .notPlain(path, "Its permissions are not as required") }
        guard facts.st_size <= limit else { throw .tooLarge(path, limit: limit) }
        return try contents(descriptor, limit, path)
    }

    private static func contents(_ descriptor: Int32, _ limit: Int, _ path: String) throws(FileError) -> Data {
        var data = Data()
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        // Some files of the system have bytes and no size.
        while true {
            let count = piece.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return data }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .system(path, errno)
            }
            data.append(contentsOf: piece.prefix(count))
            guard data.count <= limit else { throw .tooLarge(path, limit: limit) }
        }
    }

    /// The kind of something other than a plain file.
    private static func kind(_ facts: stat) -> String {
        switch facts.st_mode & S_IFMT {
        case S_IFIFO: "a pipe"
        case S_IFDIR: "a folder"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }
}
