import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyServerTool

@Suite(.timeLimit(.minutes(1)))
struct WatchedFilesTests {
    @Test(arguments: ["server.json", "policies/demo.json", "policies/new.json", "jwks.json", "credentials/ask.hex"])
    func `a change of a file that the configuration depends on is seen`(_ name: String) throws {
        let root = try TemporaryFolder()
        let folder = try DemoFolder(URL(filePath: root.path("demo"), directoryHint: .isDirectory), ports: [0, 0, 0])
        let file = try ConfigurationFile(folder.configuration)
        let before = WatchedFiles(file)
        #expect(WatchedFiles(file) == before)
        let url = folder.url.appending(path: name)
        let text = (try? Data(contentsOf: url)) ?? Data()
        try (text + Data("\n".utf8)).write(to: url)
        #expect(WatchedFiles(file) != before)
    }

    @Test func `the database changes without being seen as a change`() throws {
        let root = try TemporaryFolder()
        let folder = try DemoFolder(URL(filePath: root.path("demo"), directoryHint: .isDirectory), ports: [0, 0, 0])
        let file = try ConfigurationFile(folder.configuration)
        let before = WatchedFiles(file)
        try Data([1]).write(to: folder.url.appending(path: "latchkey.db"))
        #expect(WatchedFiles(file) == before)
    }
}
