import Foundation
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

@Suite(.timeLimit(.minutes(1)))
struct WatchedFilesTests {
    @Test(arguments: [
        "server.json", "policies/demo.json", "policies/new.json", "jwks.json", "credentials/ask.hex", "kek.hex",
        "callout-token.txt", "signing-key.hex", "vudrm-secret.txt", "axinom-key.txt", "access-key.txt", "site-key.txt",
        "drmtoday-key.txt",
    ])
    func `a change of a file used by the configuration is seen`(_ name: String) throws {
        let folder = try ServerFolder([
            "tenants.demo.callout": ["url": "https://example.com/", "token": "callout-token.txt"],
            "tenants.demo.signers": ["acme": ["key": "signing-key.hex", "iv": "00"]],
            "tenants.demo.vendors": [
                "vudrm": ["client": "acme", "secret": "vudrm-secret.txt"],
                "axinom": ["keyId": "00000000-0000-0000-0000-000000000001", "key": "axinom-key.txt"],
                "doverunner": ["site": "ACME", "accessKey": "access-key.txt", "siteKey": "site-key.txt"],
                "drmtoday": ["merchant": "acme", "key": "drmtoday-key.txt"],
            ],
        ])
        let file = try ConfigurationFile(folder.configuration)
        let before = WatchedFiles(file)
        #expect(WatchedFiles(file) == before)
        let url = folder.file(name)
        let text = (try? Data(contentsOf: url)) ?? Data()
        try (text + Data("\n".utf8)).write(to: url)
        #expect(WatchedFiles(file) != before)
    }

    @Test func `a listener's pair is watched, even if a mount only changes its folder's link`() throws {
        let folder = try ServerFolder(["players.certificate": "tls/tls.crt", "players.privateKey": "tls/tls.key"])
        let (files, tls) = (FileManager.default, folder.file("tls"))
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
        let folder = try ServerFolder()
        let file = try ConfigurationFile(folder.configuration)
        let before = WatchedFiles(file)
        try #require(chmod(folder.file("kek.hex").path, 0o640) == 0)
        #expect(WatchedFiles(file) != before)
    }

    @Test func `database writes do not count as a file change`() throws {
        let folder = try ServerFolder()
        let file = try ConfigurationFile(folder.configuration)
        let before = WatchedFiles(file)
        try Data([1]).write(to: folder.file("latchkey.db"))
        #expect(WatchedFiles(file) == before)
    }
}
