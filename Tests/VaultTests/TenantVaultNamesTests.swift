import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

/// Keys by the name of their content.
@Suite(.timeLimit(.minutes(1))) struct TenantVaultNamesTests {
    private static let movie = ContentName("movie")

    @Test func `a content's one key is found even if others' names share its prefix`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        _ = try await stage.key(stage.demand(1), of: vault)
        _ = try await stage.key(stage.demand(2, content: "movie-2"), of: vault)
        #expect(try await vault.kid(ofOnly: #require(Self.movie)) == .numbered(1))
    }

    @Test func `a content with several keys has no one key`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        _ = try await stage.key(stage.demand(1), of: vault)
        _ = try await stage.key(stage.demand(2), of: vault)
        let movie = try #require(Self.movie)
        let error = await #expect(throws: VaultError.self) { try await vault.kid(ofOnly: movie) }
        #expect(error == .severalKeys(movie))
    }

    @Test func `an unpackaged content has the same kid on every node, and another at another tenant`()
        async throws
    {
        let stage = try VaultStage()
        let movie = try #require(Self.movie)
        let kid = try await stage.vault().kid(ofOnly: movie)
        #expect(try await stage.vault().kid(ofOnly: movie) == kid)
        #expect(try TenantVault.kid(of: movie, tenant: "acme") == kid)
        #expect(try TenantVault.kid(of: movie, tenant: "emca") != kid)
    }

    @Test func `a key that a packager stores later is found after some seconds`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        let movie = try #require(Self.movie)
        #expect(try await vault.kid(ofOnly: movie) != .numbered(1))
        _ = try await stage.key(stage.demand(1), of: vault)
        stage.time.advance(by: .seconds(6))
        // It is read in the background, so that no request waits.
        while try await vault.kid(ofOnly: movie) != .numbered(1) { await Task.yield() }
    }
}
