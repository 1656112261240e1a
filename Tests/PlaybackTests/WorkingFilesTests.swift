import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyPlayback

@Suite(.timeLimit(.minutes(5))) struct WorkingFilesTests {
    private static func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    @Test func `only the user can read a temporary folder, which is removed at the end`() throws {
        let folder = try TemporaryFolder()
        let working = try WorkingFolder(in: folder.url)
        let files = try WorkingFiles.made(at: working.url)
        try files.write(Secret([1, 2, 3]), to: "key.bin")
        #expect(try Self.mode(files.directory) == 0o700)
        #expect(try Self.mode(files.url("key.bin")) == 0o600)
        #expect(try files.read("key.bin") == Data([1, 2, 3]))
        working.remove()
        #expect(!FileManager.default.fileExists(atPath: files.directory.path))
    }

    @Test func `writing replaces a file or a link, never a link's target`() throws {
        let folder = try TemporaryFolder()
        let files = WorkingFiles(folder.url)
        try Data("old".utf8).write(to: files.url("target"))
        try FileManager.default.createSymbolicLink(at: files.url("link"), withDestinationURL: files.url("target"))
        try files.write([7], to: "link")
        #expect(try files.read("target") == Data("old".utf8))
        #expect(try files.read("link") == Data([7]))
    }

    @Test func `an unreadable or unwritable file is an error that names it`() throws {
        let files = WorkingFiles(URL(filePath: "/nowhere"))
        #expect(errorCode { try files.read("a") } == "resourceMissing")
        #expect(errorCode { try files.write([1], to: "a") } == "fileFailed")
        #expect(errorCode { try WorkingFiles.made(at: URL(filePath: "/dev/null/a")) } == "fileFailed")
    }

    @Test(
        arguments: [(nil, [0, 1, 2, 3, 4]), (1..<3, [1, 2]), (4..<9, [4]), (7..<9, [])] as [(Range<Int>?, [UInt8])])
    func `file resources give a range up to the file's end`(range: Range<Int>?, expected: [UInt8]) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "a b")
        try Data(0..<5).write(to: file)
        let byPath = try await FileResources().resource(at: file.path, range: range, limit: 100)
        let byURL = try await FileResources().resource(at: file.absoluteString, range: range, limit: 100)
        #expect(byPath.bytes == Data(expected) && byURL.bytes == Data(expected))
        #expect(byPath.address == file.absoluteString)
    }

    @Test func `file resources keep their limit and open one scheme only`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "file")
        try Data(count: 101).write(to: file)
        let files = FileResources()
        #expect(
            await errorCode { try await files.resource(at: file.path, range: nil, limit: 100) } == "resourceTooLarge")
        #expect(
            await errorCode { try await files.resource(at: "https://a/b", range: nil, limit: 9) } == "resourceMissing")
        #expect(try await files.resource(at: file.path, range: 0..<100, limit: 100).bytes.count == 100)
    }
}
