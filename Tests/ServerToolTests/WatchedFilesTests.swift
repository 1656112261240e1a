import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool

@Suite(.timeLimit(.minutes(1)))
struct WatchedFilesTests {
    @Test(arguments: [
        "server.json", "policies/demo.json", "policies/new.json", "jwks.json", "credentials/ask.hex", "kek.hex",
        "callout-token.txt", "signing-key.hex", "vudrm-secret.txt", "axinom-key.txt", "access-key.txt", "site-key.txt",
        "drmtoday-key.txt",
    ])
    func `a change of a file that the configuration depends on is seen`(_ name: String) throws {
        let root = try TemporaryFolder()
        let folder = try DemoFolder(URL(filePath: root.path("demo"), directoryHint: .isDirectory), ports: [0, 0, 0])
        try ServerStage.edit(folder.configuration) { text in
            text = text.replacing(
                #""clearKey": true,"#,
                with: """
                    "callout": {"url": "https://example.com/", "token": "callout-token.txt"},
                    "signers": {"acme": {"key": "signing-key.hex", "iv": "00"}},
                    "vendors": {"vudrm": {"client": "acme", "secret": "vudrm-secret.txt"},
                      "axinom": {"keyId": "00000000-0000-0000-0000-000000000001", "key": "axinom-key.txt"},
                      "doverunner": {"site": "ACME", "accessKey": "access-key.txt", "siteKey": "site-key.txt"},
                      "drmtoday": {"merchant": "acme", "key": "drmtoday-key.txt"}},
                    """)
        }
        let file = try ConfigurationFile(folder.configuration)
        let before = WatchedFiles(file)
        #expect(WatchedFiles(file) == before)
        let url = folder.url.appending(path: name)
        let text = (try? Data(contentsOf: url)) ?? Data()
        try (text + Data("\n".utf8)).write(to: url)
        #expect(WatchedFiles(file) != before)
    }

    @Test func `a listener's pair is watched, also where a mount changes the link of its folder alone`() throws {
        let root = try TemporaryFolder()
        let folder = try DemoFolder(URL(filePath: root.path("demo"), directoryHint: .isDirectory), ports: [0, 0, 0])
        try ServerStage.edit(folder.configuration) { text in
            text = text.replacing(
                #""players": {"#,
                with: #""players": {"certificate": "tls/tls.crt", "privateKey": "tls/tls.key", "#)
        }
        let (files, tls) = (FileManager.default, folder.url.appending(path: "tls"))
        for name in ["first", "second"] {
            try files.createDirectory(at: tls.appending(path: name), withIntermediateDirectories: true)
            for file in ["tls.crt", "tls.key"] { try Data(name.utf8).write(to: tls.appending(path: "\(name)/\(file)")) }
        }
        let data = tls.appending(path: "..data").path
        try files.createSymbolicLink(atPath: data, withDestinationPath: "first")
        for file in ["tls.crt", "tls.key"] {
            try files.createSymbolicLink(
                atPath: tls.appending(path: file).path, withDestinationPath: "..data/\(file)")
        }
        let file = try ConfigurationFile(folder.configuration)
        let before = WatchedFiles(file)
        #expect(WatchedFiles(file) == before)
        try files.removeItem(atPath: data)
        try files.createSymbolicLink(atPath: data, withDestinationPath: "second")
        let after = WatchedFiles(file)
        #expect(after != before)
        try Data("third".utf8).write(to: tls.appending(path: "second/tls.key"))
        #expect(WatchedFiles(file) != after)
    }

    @Test func `a change of a file's rights is seen`() throws {
        let root = try TemporaryFolder()
        let folder = try DemoFolder(URL(filePath: root.path("demo"), directoryHint: .isDirectory), ports: [0, 0, 0])
        let file = try ConfigurationFile(folder.configuration)
        let before = WatchedFiles(file)
        try #require(chmod(folder.url.appending(path: "kek.hex").path, 0o640) == 0)
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
