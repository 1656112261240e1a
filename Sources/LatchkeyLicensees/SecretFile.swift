import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem

/// Reads files that hold secrets, and refuses files that users other than their owner can read.
///
/// Source: `Documentation/LicenseServer.md` §8.4.
struct SecretFile: Sendable {
    /// Folders whose files may be readable by other users, because the container has none: the folders of mounted secrets.
    let mounts: [String]

    /// The maximum size of a secret's file, in bytes.
    static let limit = 1 << 20

    /// Reads a file.
    /// - Throws: `secretFileUnreadable`, `secretFileOpenToOthers`.
    func read(_ path: String) throws(LicenseeError) -> Secret {
        FileThreads.visits(path)
        // Does not block on a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        // Checks the open file, so that it cannot be swapped between the check and the reading.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable(path, "It is not a regular file")
        }
        guard status.st_mode & (isMounted(path) ? 0o022 : 0o077) == 0 else { throw .openToOthers(path) }
        guard status.st_size <= Self.limit else { throw .unreadable(path, "It is larger than \(Self.limit) bytes") }
        return try Self.contents(descriptor, Int(status.st_size), path)
    }

    private static func contents(_ descriptor: Int32, _ size: Int, _ path: String) throws(LicenseeError) -> Secret {
        let bytes = ErasedBytes(count: size)
        var count = 0
        while count < size {
            let more = bytes.write(count..<size) { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            guard more > 0 else { throw .unreadable(path, "It was truncated while being read") }
            count += more
        }
        return bytes.read(0..<size) { Secret($0) }
    }

    /// Whether a file is in a folder of mounted secrets.
    func isMounted(_ path: String) -> Bool {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        return mounts.contains { path.hasPrefix(URL(fileURLWithPath: $0).standardizedFileURL.path + "/") }
    }
}
