import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyPlayback

@Suite struct PartialFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? [] }

    @Test func `a written file is complete, with no temporary file left`() throws {
        let file = folder.url.appending(path: "movie.mp4")
        try PartialFile.write(Data("old".utf8), to: file.path, mode: 0o600)
        try PartialFile.write(Data("new".utf8), to: file.path, mode: 0o600)
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(names == ["movie.mp4"])
    }

    @Test func `a partial file that cannot be renamed is removed`() throws {
        let inTheWay = folder.url.appending(path: "movie.mp4")
        try FileManager.default.createDirectory(
            at: inTheWay.appending(path: "full"), withIntermediateDirectories: true)
        #expect(throws: POSIXError.self) {
            try PartialFile.write(Data("new".utf8), to: inTheWay.path, mode: 0o600)
        }
        #expect(names == ["movie.mp4"])
    }

    @Test func `a working folder is removed with its last reference`() throws {
        var working: WorkingFolder? = try WorkingFolder(in: folder.url)
        let files = try WorkingFiles.made(at: #require(working).url)
        try files.write([1, 2, 3], to: "key.bin")
        #expect(names.count == 1)
        working = nil
        #expect(names.isEmpty)
    }
}
