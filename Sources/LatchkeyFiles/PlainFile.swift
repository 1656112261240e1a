package import Foundation

/// Reads plain files whole, and waits for nothing that is none: a pipe, a socket or a device is refused by what it is.
///
/// Opening and reading block, and a network's file system may block for ever: a server reads on `FileThreads`.
package enum PlainFile {
    /// The bytes of a file.
    /// - Parameter limit: the most bytes that it may have.
    package static func read(_ path: String, limit: Int) throws(PlainFileError) -> Data {
        try read(path, limit: limit) { _ in true }
    }

    /// The bytes of a file whose facts the caller accepts. Facts and bytes are those of the same open file.
    /// - Parameters:
    ///   - limit: the most bytes that it may have.
    ///   - accepts: whether the file may be read.
    package static func read(
        _ path: String, limit: Int, accepting accepts: (stat) -> Bool
    ) throws(PlainFileError) -> Data {
        FileThreads.visits(path)
        // Not to wait where somebody put a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let number = errno
            // What a socket and a device without a driver answer.
            throw number == ENXIO ? .notPlain("a socket or a device") : .system(number)
        }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw .system(errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .notPlain(Self.kind(facts)) }
        guard accepts(facts) else { throw .notAccepted }
        guard facts.st_size <= limit else { throw .tooLarge }
        return try contents(descriptor, limit)
    }

    private static func contents(_ descriptor: Int32, _ limit: Int) throws(PlainFileError) -> Data {
        var data = Data()
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        // Some files of the system have bytes and no size.
        while true {
            let count = piece.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return data }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .system(errno)
            }
            data.append(contentsOf: piece.prefix(count))
            guard data.count <= limit else { throw .tooLarge }
        }
    }

    /// What something is that is no plain file.
    private static func kind(_ facts: stat) -> String {
        switch facts.st_mode & S_IFMT {
        case S_IFIFO: "a pipe"
        case S_IFDIR: "a folder"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }
}

/// Why a plain file is not read. Names neither the file nor what is in it.
package enum PlainFileError: Error, Hashable, Sendable {
    /// What the system says, by its number.
    case system(Int32)
    /// It is something else, such as a pipe.
    case notPlain(String)
    /// It has more bytes than the limit.
    case tooLarge
    /// The caller does not accept its facts.
    case notAccepted

    /// What is wrong, without a full stop: `It is a pipe, and no plain file`.
    package var what: String {
        switch self {
        case .system(let number): String(cString: strerror(number))
        case .notPlain(let kind): "It is \(kind), and no plain file"
        case .tooLarge: "It has more bytes than are read"
        case .notAccepted: "Its rights are not as they should be"
        }
    }
}
