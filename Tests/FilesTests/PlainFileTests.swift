import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct PlainFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func error(_ path: String, limit: Int = 10) -> FileError? {
        do throws(FileError) {
            _ = try PlainFile.read(path, limit: limit)
            return nil
        } catch { return error }
    }

    @Test func `a plain file is read up to the limit`() throws {
        try Data("0123456789".utf8).write(to: folder.file("a"))
        #expect(try PlainFile.read(folder.path("a"), limit: 10) == Data("0123456789".utf8))
        #expect(error(folder.path("a"), limit: 9)?.code == "fileTooLarge")
        try Data().write(to: folder.file("b"))
        #expect(try PlainFile.read(folder.path("b"), limit: 0) == Data())
        #expect(error(folder.path("none"))?.what == "No such file or directory")
    }

    @Test func `a link to a plain file works`() throws {
        try Data("x".utf8).write(to: folder.file("a"))
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: folder.path("a"))
        #expect(try PlainFile.read(folder.path("link"), limit: 1) == Data("x".utf8))
    }

    @Test func `a pipe, a folder and a device are refused by type without waiting`() throws {
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
        #expect(error(folder.path("pipe"))?.what == "It is a pipe, not a regular file")
        #expect(error(folder.path(""))?.what == "It is a folder, not a regular file")
        #expect(error("/dev/zero")?.what == "It is a device, not a regular file")
        #expect(error("/dev/null")?.what == "It is a device, not a regular file")
    }

    @Test func `a socket is refused`() throws {
        // A path of a socket has 107 bytes at most.
        let path = "/tmp/latchkey-\(UUID().uuidString.prefix(8)).sock"
        defer { unlink(path) }
        let socket = TestSocket.bind(path)
        try #require(socket >= 0)
        defer { close(socket) }
        #expect(error(path)?.what == "It is a socket or a device, not a regular file")
    }

    @Test func `a system file without a size is read to its end`() throws {
        let text = try PlainFile.read("/proc/self/status", limit: 1 << 16)
        #expect(text.starts(with: Data("Name:".utf8)))
    }

    @Test func `a file whose rights are not accepted is not read`() throws {
        try Data("x".utf8).write(to: folder.file("a"))
        try #require(chmod(folder.path("a"), 0o644) == 0)
        let error = #expect(throws: FileError.self) {
            try PlainFile.read(folder.path("a"), limit: 1) { $0.st_mode & 0o077 == 0 }
        }
        #expect(error?.what == "Its permissions are not as required")
    }
}

private enum TestSocket {
    static func bind(_ path: String) -> Int32 {
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isShort = withUnsafeMutableBytes(of: &address.sun_path) { target in
            guard path.utf8.count < target.count else { return false }
            target.copyBytes(from: path.utf8)
            return true
        }
        guard isShort else { return -1 }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return status == 0 ? descriptor : -1
    }
}
