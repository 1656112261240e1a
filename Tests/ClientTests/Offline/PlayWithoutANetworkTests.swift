import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

/// The code of the article "Play without a network", compiled and run. A change here is a change there.
@Suite struct PlayWithoutANetworkTests {
    private struct Player {
        func persistableRequest(for key: KeyURI) -> FakePersistableRequest { FakePersistableRequest(key) }
    }

    private func loader(
        _ integration: some DRMIntegration, _ credentials: Credentials, _ folder: URL
    ) -> ContentKeyLoader {
        var configuration = LoaderConfiguration()
        configuration.keyStore = FileKeyStore(folder: folder)
        let loader = ContentKeyLoader(integration, credentials: credentials, configuration: configuration)
        return loader
    }

    private func download(
        _ keys: Set<KeyURI>, _ player: Player, _ loader: ContentKeyLoader, _ offline: OfflineKeys
    ) async throws {
        try await offline.request("movie-1", keys: keys)
        for key in keys { loader.answer(player.persistableRequest(for: key)) }
        for await assets in offline.changes() {
            guard let movie = assets.first(where: { $0.id == "movie-1" }) else { break }
            print(movie.state, movie.isReady, movie.remaining ?? "without an end")
            if movie.isReady { break }
        }
    }

    @Test func `the code makes an asset ready`() async throws {
        let harness = Harness { $0.keyStore = MemoryKeyStore() }
        let offline = try #require(harness.loader.offline)
        try await download([key], Player(), harness.loader, offline)
        #expect(try await offline.asset("movie-1")?.isReady == true)
    }

    @Test func `the article has this code`() throws {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Client/Latchkey.docc/PlayWithoutANetwork.md")
        func lines(_ text: String) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let here = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
        let blocks = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```")
            .filter { $0.hasPrefix("swift\n") }.map { Array(lines($0).dropFirst()) }
        #expect(blocks.count == 2)
        #expect(blocks.allSatisfy { here.firstRange(of: $0) != nil })
    }
}
