import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyExamples
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTHEOplayer
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

/// The unchanged sources of THEOplayer's samples, played by the Example.
@Suite(.timeLimit(.minutes(5))) struct THEOplayerSampleTests {
    /// A source of a sample. Source: THEOplayer/samples-drm-integration at 38c2a5a, `ios/ContentProtectionIntegration`.
    struct Sample: Sendable, CustomTestStringConvertible {
        enum Value: Sendable { case token, certificate, text(String) }

        let integration: String
        let service: VendorProfile
        let parameters: [String: Value]
        /// In place of the service's address.
        var certificate: String?

        var testDescription: String { "\(integration), \(parameters.keys.sorted())" }
    }

    static let samples = [
        Sample(integration: "customVuDRM", service: .vuDRMTheo, parameters: ["token": .token]),
        Sample(integration: "customAzureDRM", service: .azure, parameters: ["token": .token]),
        Sample(integration: "customUplynkDRM", service: .uplynk, parameters: [:]),
        Sample(integration: "EzdrmDRMIntegration", service: .ezdrmComplete, parameters: [:]),
        Sample(integration: "verimatrix", service: .verimatrixQuery, parameters: ["authorization": .token]),
        Sample(integration: "customkeyosDRM", service: .keyOSiOS, parameters: ["x-keyos-authorization": .token]),
        Sample(integration: "titanium", service: .titaniumTheo, parameters: ["authToken": .token]),
        Sample(
            integration: "titanium", service: .titaniumTheo,
            parameters: ["authToken": .token, "certificateData": .certificate], certificate: "https://dummyurl.com"),
        Sample(
            integration: "titanium", service: .titaniumTheo,
            parameters: [
                "accountName": .text("account"), "customerName": .text("customer"), "portalId": .text("portal"),
                "friendlyName": .text("phone"),
            ]),
    ]

    /// Plays a source with the Example.
    @MainActor private static func play(
        _ source: @autoclosure @Sendable () -> SourceDescription, on stage: PlayerStage,
        onFailure: @escaping @Sendable (Latchkey.KeyFailure) -> Void
    ) async throws -> StandInPlayback.Result {
        let app = THEOplayerCustomIntegrations(configuration: stage.configuration, onFailure: onFailure)
        app.player.source = source()
        app.player.play()
        return try await app.player.standIn.finished()
    }

    private static func source(
        _ integration: String, _ parameters: [String: String], license: String?, on stage: PlayerStage
    ) -> SourceDescription {
        SourceDescription(
            source: TypedSource(
                src: stage.playlist().absoluteString, type: "application/x-mpegurl",
                drm: FairPlayDRMConfiguration(
                    customIntegrationId: integration, licenseAcquisitionURL: license,
                    certificateURL: "https://c.example", integrationParameters: parameters)))
    }

    private static func source(_ sample: Sample, on stage: PlayerStage) -> SourceDescription {
        let service = stage.service(for: sample.service)
        let settings = service.parameters(at: "\(stage.address)/\(service.identifier)")
        var license = settings["licenseURL"]
        if sample.integration == "EzdrmDRMIntegration" {
            // The sample posts to the address of its source, which is whole.
            license = license.map { "\($0)/\(stage.key(for: sample.service).raw.split(separator: ";").last ?? "")" }
        }
        let parameters = sample.parameters.mapValues { value in
            switch value {
            case .token: service.issue(nil).revealedText
            case .certificate: settings["certificate"] ?? ""
            case .text(let text): text
            }
        }
        return SourceDescription(
            source: TypedSource(
                src: stage.playlist(for: sample.service).absoluteString, type: "application/x-mpegurl",
                drm: FairPlayDRMConfiguration(
                    customIntegrationId: sample.integration, licenseAcquisitionURL: license,
                    certificateURL: sample.certificate ?? settings["certificateURL"],
                    integrationParameters: parameters)))
    }

    @Test(arguments: samples) func `a sample's source plays unchanged`(_ sample: Sample) async throws {
        try await PlayerStage.with { stage in
            let result = try await Self.play(Self.source(sample, on: stage), on: stage, onFailure: unexpected)
            #expect(result.isRight)
            #expect(stage.service(for: sample.service).licenses == result.keyURIs.count)
            #expect(stage.log.violations.isEmpty)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
        }
    }

    @Test(arguments: [
        ("verimatrix", ["authorisation": "t"], "integrationParameters[\"authorization\"]", "\"authorisation\""),
        ("titanium", ["token ": "t"], "integrationParameters[\"authToken\"]", "\"token \""),
        (
            "titanium", ["accountName": "a", "customer": "c", "portalId": "p"],
            "integrationParameters[\"customerName\"]", "\"customer\""
        ),
        ("customVuDRM", [:], "integrationParameters[\"token\"]", ""),
        (
            "customkeyosDRM", ["x-keyos-authorisation": "t"], "integrationParameters[\"x-keyos-authorization\"]",
            "\"x-keyos-authorisation\""
        ),
    ])
    func `a missing parameter has the sample's name, and unknown ones are named too`(
        _ integration: String, _ parameters: [String: String], _ missing: String, _ unknown: String
    ) async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            await #expect(throws: (any Error).self) {
                try await Self.play(
                    Self.source(integration, parameters, license: "https://l.example", on: stage), on: stage,
                    onFailure: failures.add)
            }
            let error = try #require(failures.all.first?.loaderError)
            #expect(error.reason.contains("has no \(missing)"), "\(error.reason)")
            // Nothing is wrong with the viewer's sign-in.
            #expect(error.kind == .missingSetting && error.viewerMessage == .unavailable)
            #expect((unknown.isEmpty || error.reason.contains(unknown)) && error.remedy.contains(missing))
            #expect(error.reason.contains("does not know") == !unknown.isEmpty)
            #expect(!"\(error.reason) \(error.remedy)".contains("closure"))
        }
    }

    @Test func `a missing address is named as in the configuration`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            await #expect(throws: (any Error).self) {
                try await Self.play(
                    Self.source("EzdrmDRMIntegration", [:], license: nil, on: stage), on: stage, onFailure: failures.add
                )
            }
            #expect(failures.all.first?.loaderError?.reason.contains("has no licenseAcquisitionURL") == true)
        }
    }
}
