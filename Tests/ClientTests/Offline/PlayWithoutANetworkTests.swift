import Foundation
@_spi(Adapters) @_spi(Integrations) import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

/// The code of the article "Play without a network", compiled and run. `Scripts/check-snippets` compares both.
@Suite(.timeLimit(.minutes(5))) struct PlayWithoutANetworkTests {
    private struct Player {
        func persistableRequest(for key: KeyURI) -> FakePersistableRequest { FakePersistableRequest(key) }
    }

    private func show(_ asset: OfflineAsset) {}

    private func loader(
        _ integration: some VendorIntegration, _ credentials: Credentials, _ folder: URL
    ) -> ContentKeyLoader {
        var configuration = LoaderConfiguration()
        configuration.keyStore = FileKeyStore(folder: folder)
        let loader = ContentKeyLoader(integration, credentials: credentials, configuration: configuration)
        return loader
    }

    private func download(
        _ playlistURL: URL, _ player: Player, _ loader: ContentKeyLoader, _ offline: OfflineKeys
    ) async throws {
        let keys = try await loader.keys(of: playlistURL)
        try await offline.register("movie-1", keys: Set(keys))
        for key in keys { loader.answer(player.persistableRequest(for: key)) }
        for await assets in offline.changes() {
            guard let movie = assets.first(where: { $0.id == "movie-1" }) else { break }
            show(movie)
            if movie.isReady { break }
        }
    }

    @Test func `the code gets an asset ready`() async throws {
        let harness = Harness(over: PreloadStream.transport()) { $0.keyStore = MemoryKeyStore() }
        let offline = try #require(harness.loader.offline)
        try await download(PreloadStream.address, Player(), harness.loader, offline)
        #expect(try await offline.asset("movie-1")?.isReady == true)
    }
}
