import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct ManyKeysTests {
    @Test func `two hundred parallel requests use one certificate and get their keys`() async throws {
        var generator = SeededGenerator(seed: 200)
        let keys = try (0..<200).map { index in
            StoredKey(
                uri: KeyURI("skd://catalog/episode-\(index)"),
                id: try #require(KeyID(bytes: Data(generator.bytes(16)))),
                content: try #require(
                    ContentKey(key: Secret(generator.bytes(16)), iv: Secret(generator.bytes(16)))))
        }
        let folder = try TemporaryFolder()
        try await LiveServices.with(keys: ContentKeyStore(keys)) { live in
            let service = live.service(for: .vuDRM)
            let host = live.address.replacing("http://", with: "")
            let uris = keys.map { service.keyURI(for: $0, at: host) }
            let playlist = try folder.write(Self.playlist(uris), to: "catalog.m3u8")

            let report = try await live.player(live.loader(.vuDRM)).keys(of: playlist)

            #expect(report.failure == nil)
            #expect(report.keys.map(\.uri.raw) == uris)
            #expect(report.keys.map { try? $0.outcome.get().contentKey } == keys.map(\.content))
            #expect(service.requests(at: .certificate).count == 1)
            #expect(service.requests(at: .license).count == 200)
        }
    }

    private static func playlist(_ uris: [String]) -> String {
        let segments = uris.enumerated().map { index, uri in
            """
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="\(uri)",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
            #EXTINF:2,
            \(index).ts
            """
        }
        return "#EXTM3U\n#EXT-X-VERSION:5\n#EXT-X-TARGETDURATION:2\n"
            + segments.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
    }
}
