import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// The README's example, compiled and run. Change both together.
@Suite(.timeLimit(.minutes(5))) struct ReadmeExampleTests {
    struct PlayerRequest: PlayerKeyRequest {
        let keyURI: KeyURI
        let finish: @Sendable (Result<Data, ContentKeyError>) -> Void

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { Data([1]) }
        func answer(_ result: Result<Data, ContentKeyError>) { finish(result) }
    }

    @Test func `the README's example gets its one answer`() async throws {
        let certificateURL = try #require(URL(string: "https://127.0.0.1:1/certificate/demo-client"))
        let loader = ContentKeyLoader(
            .vuDRM(certificate: certificateURL),
            credentials: .token { request in "a fresh token, \(request.reason)" },
            configuration: LoaderConfiguration(retry: .never))
        let result = await withCheckedContinuation { continuation in
            loader.answer(
                PlayerRequest(keyURI: "skd://127.0.0.1:1/license/movie") { continuation.resume(returning: $0) })
        }
        guard case .failure(let error) = result else {
            Issue.record("nobody listens on port 1")
            return
        }
        #expect(error.code == "cannotConnect")
        #expect(error.stage == .certificate)
    }

    private struct Player: PreloadingPlayer {
        func preload(_ key: KeyURI, as asset: AssetID?, of stream: URL?) -> Bool { false }
    }

    @Test func `the README's key lifecycle ends with a list of assets`() async throws {
        var configuration = LoaderConfiguration(retry: .never)
        configuration.keyStore = MemoryKeyStore()
        let loader = ContentKeyLoader(VendorProfile.vuDRMRaw.unchecked, configuration: configuration)
        let playlist = try #require(URL(string: "https://127.0.0.1:1/master.m3u8"))
        let all: Set<KeyURI> = ["skd://127.0.0.1/audio", "skd://127.0.0.1/video"]
        var shown: [OfflineAsset] = []

        let ready = await loader.preload(playlist, into: Player())
        #expect(ready.keys.isEmpty)
        if let offline = loader.offline {
            try await offline.register("movie-1", keys: all)
            for await assets in offline.changes() {
                shown = assets
                break
            }
        }
        #expect(shown.map(\.id) == ["movie-1"] && shown.first?.isReady == false)
    }
}
