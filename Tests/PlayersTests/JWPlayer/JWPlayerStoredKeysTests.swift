import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeyJWPlayer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import Testing

/// Keys that JW Player 4 stores.
@Suite(.timeLimit(.minutes(5))) final class JWPlayerStoredKeysTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-jw-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test func `keys are stored once, then play without a service`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { [folder] stage in
            let names = Locked<[String]>([])
            let stored = JWPlayerStoredKeys(
                in: folder, onStored: { name in names.withLock { $0.append(name) } }, onFailure: unexpected)
            let loader = stage.loader()
            let purposes = PurposeLog(loader)
            let keys = JWPlayerKeys(loader, stored: stored, timekeeper: stage.time, onFailure: unexpected)
            let contentLoader = JWDRMContentLoader(dataSource: keys, keyManager: stored)
            let items = [try JWPlayerItemBuilder().file(stage.playlist()).build()]
            stored.isDownloading = true
            contentLoader.load(items: items)
            await stage.log.untilCallback("didWritePersistableContentKey")
            contentLoader.load(items: items)
            await stage.log.untilCallback("contentKeyExistsOnDisk", times: 2)
            withExtendedLifetime(keys) {}
            #expect(names.withLock { $0 } == [stage.key().raw])
            await purposes.until(.persistable, times: 1)
            let count = stage.service(for: .vuDRM).licenses

            stage.service(for: .vuDRM).faults.set(.status(500), at: .license)
            let again = try JWApp(stage.loader(), on: stage, playing: stage.playlist(), stored: stored)
            let played = try await again.play()
            #expect(played.isRight)
            #expect(stage.service(for: .vuDRM).licenses == count)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a stored key is replaced when its first play changes it`() async throws {
        let terms = LicenseTerms(.dualExpiry(storage: .seconds(86_400), playback: .seconds(3_600)))
        try await PlayerStage.with(terms: terms) { [folder] stage in
            let stored = JWPlayerStoredKeys(in: folder, onFailure: unexpected)
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist(), stored: stored)
            try app.store(stage.playlist(), with: stored)
            await stage.log.untilCallback("didWritePersistableContentKey")
            stored.isDownloading = false
            for _ in 0..<2 {
                let again = try JWApp(stage.loader(), on: stage, playing: stage.playlist(), stored: stored)
                let played = try await again.play()
                #expect(played.isRight)
            }
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a stream requests a license to store only while downloading or stored`() async throws {
        try await PlayerStage.with { [folder] stage in
            let stored = JWPlayerStoredKeys(in: folder, onFailure: unexpected)
            let loader = stage.loader()
            let purposes = PurposeLog(loader)
            let played = try await JWApp(loader, on: stage, playing: stage.playlist(), stored: stored).play()
            #expect(played.isRight)
            await purposes.until(.streaming, times: 1)
            #expect(stage.service(for: .vuDRM).licenses == 1)
            #expect(!stage.log.names.contains("writePersistableContentKey"))
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a stored key that the player rejects is removed and fetched`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { [folder] stage in
            let stored = JWPlayerStoredKeys(in: folder, onFailure: unexpected)
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist(), stored: stored)
            let loader = try #require(app.view.player.contentLoader)
            let key = stage.key().raw
            stored.contentLoader(loader, writePersistableContentKey: Data([1]), contentKeyIdentifier: key)
            #expect(stored.contentLoader(loader, contentKeyExistsOnDisk: key))
            let played = try await app.play()
            #expect(played.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: ["skd://a/1", "../../etc/passwd", "", String(repeating: "é/", count: 300), "skd://A/1"])
    func `a key of any name is written, found, read and removed`(_ name: String) throws {
        let stored = JWPlayerStoredKeys(in: folder, onFailure: unexpected)
        let loader = JWDRMContentLoader(dataSource: NoKeys(), keyManager: stored)
        stored.contentLoader(loader, writePersistableContentKey: Data([7]), contentKeyIdentifier: name)
        #expect(stored.contentLoader(loader, contentKeyExistsOnDisk: name))
        #expect(!stored.contentLoader(loader, contentKeyExistsOnDisk: name + "x"))
        let url = stored.contentLoader(loader, urlForPersistableContentKey: name)
        #expect(url.path.hasPrefix(folder.path))
        #expect(try Data(contentsOf: url) == Data([7]))
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for _ in 0..<2 { stored.contentLoader(loader, deletePersistableContentKey: name) }
        #expect(!stored.contentLoader(loader, contentKeyExistsOnDisk: name))
    }
}

private final class NoKeys: JWDRMContentKeyDataSource {
    func contentIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void) { handler(nil) }
    func appIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void) { handler(nil) }
    func contentKeyWithSPCData(_ spcData: Data, completionHandler handler: @escaping (Data?, Date?, String?) -> Void) {
        handler(nil, nil, nil)
    }
}
