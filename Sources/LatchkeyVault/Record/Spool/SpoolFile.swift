import Foundation
import LatchkeyCore
import LatchkeySystem

/// A spool's disk operations; tests inject a disk that fails or hangs.
package struct SpoolDisk: Sendable {
    /// Writes all bytes at the end of a file, or returns why not.
    package var write: @Sendable (Int32, [UInt8]) -> Int32
    /// Syncs a file to the disk; returns why not.
    package var sync: @Sendable (Int32) -> Int32
    /// Syncs the names in a folder to the disk; returns why not.
    package var syncFolder: @Sendable (String) -> Int32

    package init(
        write: @escaping @Sendable (Int32, [UInt8]) -> Int32 = SpoolDisk.writeAll,
        sync: @escaping @Sendable (Int32) -> Int32 = { fdatasync($0) == 0 ? 0 : errno },
        syncFolder: @escaping @Sendable (String) -> Int32 = SpoolDisk.syncNames
    ) {
        (self.write, self.sync, self.syncFolder) = (write, sync, syncFolder)
    }

    package static let syncNames: @Sendable (String) -> Int32 = { path in
        let place = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard place >= 0 else { return errno }
        defer { close(place) }
        return fsync(place) == 0 ? 0 : errno
    }

    package static let writeAll: @Sendable (Int32, [UInt8]) -> Int32 = { descriptor, bytes in
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    return count == 0 ? ENOSPC : errno
                }
            }
            return 0
        }
    }
}

/// A file that is open for writing, closed when it is no longer referenced.
final class SpoolFile: Sendable {
    let descriptor: Int32

    init(creating path: String) throws(FileError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .cannotWrite(path) }
    }

    deinit { close(descriptor) }

    /// Locks the file for this process until the process ends.
    /// - Returns: false if another process has locked it.
    func hold() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    func letGo() { _ = flock(descriptor, LOCK_UN) }
}

/// A file of rows, by its name: the time of the spool's start, the spool, the first row's sequence.
struct SpoolSegment: Sendable {
    let name: String
    /// When its spool began, by the clock at the time, in milliseconds since 1970.
    let start: Int64
    let spool: String
    let first: UInt64
    /// Its bytes when it was opened, and those added since.
    var size = 0
    /// Its rows when it was opened, and those added since.
    var rows = 0
    /// The acknowledged offset.
    var offset = 0
    var acknowledgedRows = 0

    init(start: Int64, spool: String, first: UInt64) {
        name = "\(Self.padded(start, 13))-\(spool)-\(Self.padded(first, 12)).rows"
        (self.start, self.spool, self.first) = (start, spool, first)
    }

    /// A segment of an earlier process; `nil` if the name is not a segment's.
    init?(named name: String) {
        let parts = name.split(separator: "-")
        guard parts.count == 3, name.hasSuffix(".rows"), parts[1].count == 16, let start = Int64(parts[0]),
            let first = UInt64(parts[2].dropLast(5))
        else { return nil }
        (self.name, self.start, self.spool, self.first) = (name, start, String(parts[1]), first)
    }

    /// Counts the rows in the file.
    /// - Throws: `FileError` for an unreadable file: its rows must not be lost silently.
    mutating func measure(in folder: String) throws(FileError) {
        (size, rows) = try Self.count("\(folder)/\(name)")
    }

    private static func padded(_ number: some BinaryInteger, _ width: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// The bytes and the lines of a file.
    private static func count(_ path: String) throws(FileError) -> (Int, Int) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unread(path) }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw unread(path) }
        // A device may be endless.
        guard facts.st_mode & S_IFMT == S_IFREG else { throw unread(path, "it is not a regular file") }
        var (size, rows, piece) = (0, 0, [UInt8](repeating: 0, count: 1 << 20))
        while true {
            let count = piece.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return (size, rows) }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw unread(path)
            }
            size += count
            rows += piece[..<count].count { $0 == SpoolFrame.newline }
        }
    }

    /// - Parameter reason: defaults to the message of `errno`.
    private static func unread(_ path: String, _ reason: String = String(cString: strerror(errno))) -> FileError {
        FileError(
            code: "cannotRead", reason: "\(path) cannot be read: \(reason).",
            remedy: "It contains rows of the record: make it readable to the server's user, or move it elsewhere.")
    }

    /// Bytes of a file.
    static func read(_ path: String, from offset: Int, count: Int) throws(FileError) -> [UInt8] {
        FileThreads.visits(path)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .cannotRead(path, because: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var (bytes, done) = ([UInt8](repeating: 0, count: count), 0)
        while done < count {
            let number = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress?.advanced(by: done), count - done, off_t(offset + done))
            }
            if number == 0 { break }
            guard number > 0 else {
                if errno == EINTR { continue }
                throw .cannotRead(path, because: String(cString: strerror(errno)))
            }
            done += number
        }
        return Array(bytes.prefix(done))
    }
}
