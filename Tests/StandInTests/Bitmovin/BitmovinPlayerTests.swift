import BitmovinPlayer
import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySimulation
import StandInEngine
import StandInPlayers
import Testing

/// Tests of the stand-in for Bitmovin's player.
@Suite(.timeLimit(.minutes(5))) struct BitmovinPlayerTests {
    private let closures = [
        "prepareContentId", "prepareCertificate", "prepareMessage", "prepareLicenseServerUrl", "prepareLicense",
    ]

    @Test func `a stream plays right with the closures around the player's HTTP`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let result = try await BitmovinApp.play(BitmovinApp.source(BitmovinApp.configuration(demo), .twoKeys))
                #expect(result.isRight)
                await fixture.log.untilCallbacks(Array(closures), times: result.keyURIs.count)
                for closure in closures {
                    #expect(fixture.log.contents.count(of: closure) == result.keyURIs.count)
                }
                let sent = demo.requests.withLock { $0.filter { $0.path == "/license" } }
                #expect(sent.allSatisfy { $0.headers["X-Token"] == "t" })
            }
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `empty data from the last closure is a failure`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let config = try BitmovinApp.configuration(demo)
                config.prepareLicense = { _ in Data() }
                let listener = BitmovinListener()
                let source = BitmovinApp.source(config)
                source.add(listener: listener)
                let error = await #expect(throws: NSError.self) { try await BitmovinApp.play(source) }
                #expect(error?.code == 2303)
                await fixture.log.untilCallback("onSourceError")
                #expect(listener.codes.withLock { $0 } == [2303])
            }
        }
    }

    @Test func `each closure can be called alone`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let standIn = try #require(BitmovinApp.source(try BitmovinApp.configuration(demo)).standIn)
                let identifier = try await standIn.contentIdentifier(for: "skd://a")
                #expect(identifier == "skd://a")
                let certificate = try await standIn.certificate()
                #expect(certificate == fixture.server.certificate)
                await #expect(throws: KeyFailure.self) {
                    try await standIn.license(for: Data([1]), "skd://a", assetID: "a")
                }
                await fixture.log.untilCallbacks(Array(closures.dropLast()))
                #expect(fixture.log.names == Array(closures.dropLast()))
            }
        }
    }
}
