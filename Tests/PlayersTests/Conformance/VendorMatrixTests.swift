import LatchkeySimulation
import LatchkeyVendors
import StandInEngine
import Testing

/// Every adapter with every vendor of a list, because players and vendors do not know each other.
@Suite(.timeLimit(.minutes(5))) struct VendorMatrixTests {
    private static let vendors: [VendorProfile] = [
        .vuDRM, .cloudDRM, .azure, .ezdrm, .verimatrix, .expressPlay, .drmToday, .nagra,
    ]

    @Test(arguments: PlayerUnderTest.all, vendors.map(\.identifier))
    func `the demo stream plays right`(_ player: PlayerUnderTest, _ vendor: String) async throws {
        let profile = try #require(VendorProfile.named(vendor))
        try await PlayerStage.with { stage in
            let app = try await ConformingApp(player, on: stage, stage.loader(profile), for: profile)
            let result = try await app.play()
            #expect(result.isRight && app.errors.isEmpty)
            #expect(stage.service(for: profile).licenses == result.keyURIs.count)
            #expect(stage.log.violations.isEmpty)
            app.drop()
        }
    }

    /// One vendor puts the IV after a colon, where a URL has its port.
    @Test(arguments: PlayerUnderTest.all)
    func `a key URI that is not an URL plays or is one player error`(_ player: PlayerUnderTest) async throws {
        try await PlayerStage.with { stage in
            let profile = VendorProfile.axinom
            let app = try await ConformingApp(player, on: stage, stage.loader(profile), for: profile)
            #expect((await app.failure() == nil) == player.can(.anyURI))
            #expect(app.errors.isEmpty && stage.log.violations.isEmpty)
            app.drop()
        }
    }
}
