import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// Tests of the stand-in for JWPlayerKit's content loader.
@Suite(.timeLimit(.minutes(5))) struct JWContentLoaderTests {
    @Test func `stored keys play without the key server`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.persistent))
        try await fixture.stage.run {
            let app = KitApp(fixture)
            let store = KeyFolder()
            let loader = JWDRMContentLoader(dataSource: app.source, keyManager: store)
            loader.load(items: [try item(.twoKeys)])
            await fixture.log.untilCallback("didWritePersistableContentKey", times: 2)
            #expect(store.errors.withLock { $0 }.isEmpty)
            let asked = fixture.log.contents.count(of: "contentKeyWithSPCData")
            #expect(asked == 2)
            app.view.player.contentLoader = loader
            let result = try await app.play(.twoKeys)
            #expect(result.isRight)
            await fixture.log.untilCallback("contentKeyWithSPCData", times: asked)
            #expect(fixture.log.contents.count(of: "contentKeyWithSPCData") == asked)
            await fixture.log.untilCallback("didWritePersistableContentKey", times: 2)
            #expect(fixture.log.contents.count(of: "didWritePersistableContentKey") == 2)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a stored key that the device rejects is deleted and fetched`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = KitApp(fixture)
            let store = KeyFolder()
            try store.put(Data("rubbish".utf8), "skd://demo/video")
            app.view.player.contentLoader = JWDRMContentLoader(dataSource: app.source, keyManager: store)
            let result = try await app.play()
            #expect(result.isRight)
            await fixture.log.untilCallback("deletePersistableContentKey", times: 1)
            #expect(fixture.log.contents.count(of: "deletePersistableContentKey") == 1)
            withExtendedLifetime(store) {}
        }
    }

    @Test func `a key that may not be stored is a loader error`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let source = KitSource(fixture.server)
            let store = KeyFolder()
            let loader = JWDRMContentLoader(dataSource: source, keyManager: store)
            loader.load(items: [try item(.transportStream)])
            await fixture.log.untilCallback("failedWithError")
            #expect(store.errors.withLock { $0.count } == 1)
        }
    }

    @Test func `a key of a kind that is not stored is not requested`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let source = KitSource(fixture.server)
            let store = KeyFolder(.nonpersistable)
            let loader = JWDRMContentLoader(dataSource: source, keyManager: store)
            loader.load(items: [try item(.transportStream)])
            await fixture.log.untilCallback("contentKeyTypeFor")
            let app = KitApp(fixture)
            app.view.player.contentLoader = loader
            let result = try await app.play()
            #expect(result.isRight)
            #expect(fixture.log.contents.count(of: "contentKeyTypeFor") == 2)
            #expect(fixture.log.contents.count(of: "writePersistableContentKey") == 0)
        }
    }

    @Test func `a playlist is JW Platform's JSON, not a stream`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.persistent))
        try await fixture.stage.run {
            let source = KitSource(fixture.server)
            let store = KeyFolder()
            let loader = JWDRMContentLoader(dataSource: source, keyManager: store)
            loader.load(playlist: StandInFixture.playlist(of: .transportStream))
            await fixture.log.untilCallback("failedWithError")
            let stream = StandInFixture.playlist(of: .transportStream).absoluteString
            let playlist = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
            try Data(#"{"playlist": [{"sources": [{"file": "\#(stream)"}]}]}"#.utf8).write(to: playlist)
            defer { try? FileManager.default.removeItem(at: playlist) }
            loader.load(playlist: playlist)
            await fixture.log.untilCallback("didWritePersistableContentKey")
            #expect(store.errors.withLock { $0.count } == 1)
        }
    }

    private func item(_ asset: DemoAsset) throws -> JWPlayerItem {
        try JWPlayerItemBuilder().file(StandInFixture.playlist(of: asset)).build()
    }
}

/// Stores keys in a temporary folder.
private final class KeyFolder: JWDRMContentKeyManager, Sendable {
    let errors = Locked<[JWError]>([])
    private let folder = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
    private let isStored: Bool

    init(_ kind: JWContentKeyType = .persistable) {
        isStored = kind == .persistable
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func file(_ identifier: String) -> URL {
        folder.appending(path: Data(identifier.utf8).base64EncodedString())
    }

    func put(_ key: Data, _ identifier: String) throws { try key.write(to: file(identifier)) }

    func contentLoader(
        _ contentLoader: JWDRMContentLoader, writePersistableContentKey contentKey: Data, contentKeyIdentifier: String
    ) { try? put(contentKey, contentKeyIdentifier) }

    func contentLoader(
        _ contentLoader: JWDRMContentLoader, didWritePersistableContentKey contentKeyIdentifier: String
    ) {}

    func contentLoader(
        _ contentLoader: JWDRMContentLoader, deletePersistableContentKey contentKeyIdentifier: String
    ) { try? FileManager.default.removeItem(at: file(contentKeyIdentifier)) }

    func contentLoader(
        _ contentLoader: JWDRMContentLoader, contentKeyTypeFor contentKeyIdentifier: String
    ) -> JWContentKeyType { isStored ? .persistable : .nonpersistable }

    func contentLoader(
        _ contentLoader: JWDRMContentLoader, contentKeyExistsOnDisk contentKeyIdentifier: String
    ) -> Bool { FileManager.default.fileExists(atPath: file(contentKeyIdentifier).path) }

    func contentLoader(
        _ contentLoader: JWDRMContentLoader, urlForPersistableContentKey contentKeyIdentifier: String
    ) -> URL { file(contentKeyIdentifier) }

    func contentLoader(_ contentLoader: JWDRMContentLoader, failedWithError error: JWError) {
        errors.withLock { $0.append(error) }
    }
}
