import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyLicensing

/// The state that a new configuration's tenant takes over from its predecessor.
@Suite(.timeLimit(.minutes(1))) struct TenantTakeOverTests {
    private static let set =
        #"{"keys":[{"kty":"oct","kid":"key","alg":"HS256","k":"\#(Base64URL.text([UInt8](repeating: 9, count: 32)))"}]}"#

    /// A tenant whose key set is at an address, and was fetched or not.
    private func tenant(_ address: String, isFetched: Bool) async throws -> Tenant {
        let json = #"{"version":1,"tenants":{"acme":{"tokens":{"keys":"\#(address)"}}}}"#
        let settings = try #require(ServerSettings(json: Data(json.utf8)).tenants["acme"])
        let source = KeySetSource.fetched(report: { _ in }) { Data(Self.set.utf8) }
        if isFetched { try await source.reload() }
        return Tenant("acme", settings, vault: try await VaultStage().vault(), tokenKeys: source)
    }

    @Test(arguments: [("https://a.example/keys", 1), ("https://b.example/keys", 0)])
    func `a key set is kept until the next fetch if its address is the same`(
        _ address: String, _ count: Int
    ) async throws {
        let former = try await tenant("https://a.example/keys", isFetched: true)
        let next = try await tenant(address, isFetched: false)
        next.takeOver(former)
        #expect(next.tokenKeys?.keys.keys.count == count)
    }
}
