#if os(Linux)
    import Foundation
    import Latchkey
    import LatchkeyCore
    import LatchkeyExamples
    import LatchkeyServices
    import LatchkeySimulation
    import PSDKLibrary
    import StandInEngine
    import Testing

    @testable import LatchkeyCommandLine

    /// The applications of `Examples` on the demonstration's services.
    @Suite(.timeLimit(.minutes(1))) @MainActor struct PlayerDemonstrationTests {
        private let folder: TemporaryFolder
        private let stage: DemoStage
        private let demonstration: PlayerDemonstration

        init() throws {
            folder = try TemporaryFolder()
            stage = try DemoStage(output: URL(fileURLWithPath: folder.file("demo"))) { _ in }
            demonstration = PlayerDemonstration(on: stage)
        }

        @Test(arguments: 0..<5) func `an application of the vendors' samples plays right, and leaves its picture`(
            _ number: Int
        ) async throws {
            let row = try #require(PlayerDemonstration.rows.dropFirst(number).first)
            let (text, isRight) = await demonstration.play(row)
            #expect(isRight, "\(text)")
            #expect(text.hasPrefix("\(row.vendor) · \(row.player) ") && text.contains("150 frames decoded"))
            let picture = try Data(contentsOf: stage.output.appending(path: "\(row.service).png"))
            #expect(picture.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            await stage.bench.host.stop(within: .seconds(1))
        }

        @Test(arguments: 0..<5) func `a refusal is the row's text, with the reason and without a secret`(
            _ number: Int
        ) async throws {
            let row = try #require(PlayerDemonstration.rows.dropFirst(number).first)
            let service = try #require(stage.bench.host.services.first { $0.identifier == row.service })
            service.faults.set(.status(403), at: .license)
            let (text, isRight) = await demonstration.play(row)
            #expect(!isRight)
            let reason = row.player == "CONNECT" ? "integrationFailed" : "forbidden"
            #expect(text.contains("(\(reason)"), "\(text)")
            #expect(!text.contains("eyJ") && !text.contains("demo-client|"))
            await stage.bench.host.stop(within: .seconds(1))
        }

        @Test(arguments: ["entitlementURL", "licenseURL"])
        func `ExpressPlay's other use cases play too`(_ setting: String) async throws {
            let service = try #require(stage.bench.host.services.first { $0.identifier == "expressplay" })
            let settings = service.parameters(at: stage.bench.mount(of: service))
            let server = try #require(settings[setting].flatMap { URL(string: $0) })
            let certificate = try #require(settings["certificate"].flatMap { Data(base64Encoded: $0) })
            let content = try #require(URL(string: stage.bench.media("two-keys/master.m3u8", through: service)))
            let simulated = StandInStage(reference: stage.reference)
            let result = try await simulated.run {
                let app = TVSDKExpressPlay(
                    setting == "licenseURL" ? .onPremise(server) : .entitlement(server), certificate: certificate,
                    configuration: .init(hosts: .init(loopback: .http)), onError: { Issue.record($0) })
                app.play(content)
                return try await #require(app.player).standIn.finished()
            }
            #expect(result.isRight && simulated.log.violations.isEmpty)
            await stage.bench.host.stop(within: .seconds(1))
        }
    }
#endif
