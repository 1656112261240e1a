import Foundation
import Latchkey
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct PreloadTests {
    @Test func `a stream preloaded into its player plays without a request`() async throws {
        try await LiveServices.with { live in
            let loader = live.loader(.vuDRM)
            let player = live.player(loader)
            let address = live.playlist(.twoKeys, for: .vuDRM)
            let result = await loader.preload(try #require(URL(string: address)), into: player)
            #expect(result.keys.map(\.prepared) == [[.certificate, .license], [.certificate, .license]])
            let service = live.service(for: .vuDRM)
            #expect(service.requests(at: .license).count == 2)

            let report = try await player.keys(of: address)
            #expect(report.failure == nil && report.keys.count == 2)
            #expect(report.requests.isEmpty)
            #expect(service.requests(at: .license).count == 2)
        }
    }

    @Test func `another player's new SPCs get separate licenses`() async throws {
        try await LiveServices.with { live in
            let loader = live.loader(.vuDRM)
            let (first, second) = (live.player(loader), live.player(loader))
            let address = live.playlist(.twoKeys, for: .vuDRM)
            _ = await loader.preload(try #require(URL(string: address)), into: first)
            let report = try await second.keys(of: address)
            #expect(report.failure == nil)
            #expect(live.service(for: .vuDRM).requests(at: .license).count == 4)
            #expect(live.service(for: .vuDRM).requests(at: .certificate).count == 1)
        }
    }

    @Test func `without such a player a key takes only its license request`() async throws {
        try await LiveServices.with { live in
            let loader = live.loader(.cloudDRM)
            let address = live.playlist(.twoKeys, for: .cloudDRM)
            let result = await loader.preload(try #require(URL(string: address)))
            #expect(result.end == .complete && result.unread.isEmpty)
            #expect(result.keys.allSatisfy { $0.prepared == [.certificate, .connection] })
            let report = try await live.player(loader).keys(of: address)
            #expect(report.failure == nil)
            #expect(live.service(for: .cloudDRM).requests(at: .certificate).count == 1)
            #expect(live.service(for: .cloudDRM).requests(at: .license).count == 2)
        }
    }
}
