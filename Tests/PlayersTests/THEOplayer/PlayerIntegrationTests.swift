import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

@testable import LatchkeyTHEOplayer

/// THEOplayer as in its guides: the integration changes requests and responses, and the player sends.
@Suite(.timeLimit(.minutes(5))) struct PlayerIntegrationTests {
    /// The vendors of THEO's document that need nothing but their two requests.
    private static let vendors: [VendorProfile] = [.vuDRMTheo, .azure, .ezdrmComplete, .verimatrixQuery]

    /// Registers a vendor's keys, and gives a player with a source that names them.
    private func player(
        _ profile: VendorProfile, on stage: PlayerStage, headers: [[String: String]]? = nil,
        token: String? = nil, failures: FailureLog = FailureLog()
    ) -> THEOplayer {
        THEOplayerKeys(profile, sentBy: .player, configuration: stage.configuration, onFailure: failures.add)
            .register(as: "test")
        let player = THEOplayer()
        let token = token ?? stage.service(for: profile).issue(nil).revealedText
        player.source = stage.source(.transportStream, for: profile, headers: headers, parameters: ["token": token])
        return player
    }

    @Test(arguments: vendors)
    func `a documented vendor plays, and every hook is the adapter's own`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let player = player(profile, on: stage)
            player.play()
            let result = try await player.standIn.finished()
            #expect(result.isRight)
            #expect(stage.service(for: profile).licenses == result.keyURIs.count)
            let hooks = [
                "onExtractFairplayContentId", "onCertificateRequest", "onCertificateResponse", "onLicenseRequest",
                "onLicenseResponse",
            ]
            // The player calls the response hooks only if it sent the request itself.
            await stage.log.untilCallbacks(hooks)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a refusal is an error with the service's status, for the player and the app`() async throws {
        try await PlayerStage.with { stage in
            let (profile, failures) = (VendorProfile.vuDRMTheo, FailureLog())
            stage.service(for: profile).faults.set(.status(403), at: .license)
            let player = player(profile, on: stage, failures: failures)
            player.play()
            do {
                _ = try await player.standIn.finished()
                Issue.record("It played.")
            } catch {
                let cause = try #require((error as? any ContentProtectionError)?.cause as? NSError)
                #expect(cause.isComplete && cause.userInfo[ContentKeyError.UserInfoKey.code] as? String == "forbidden")
            }
            #expect(failures.codes == ["forbidden"])
            #expect(stage.secrets(in: failures.text).isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a vendor that needs more than its two requests is refused in words`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            // With a session address, the vendor wants a session first.
            let player = player(stage.configured(.nagra), on: stage, failures: failures)
            player.play()
            await #expect(throws: (any Error).self) { try await player.standIn.finished() }
            #expect(failures.codes.contains("unfitForPlayer"))
        }
    }

    @Test func `a source that wants cookies is refused by the loader, which sends none`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let integration = LoaderIntegration(.success(stage.loader()), nil, failures.add)
            let answer = Answer()
            let request = LicenseRequest(
                url: "https://l.example", method: "POST", headers: [:], body: Data([1]),
                fairplaySkdUrl: stage.key().raw, useCredentials: true)
            integration.onLicenseRequest(request: request, callback: answer)
            let error = try #require(answer.errors.withLock { $0.first })
            #expect(error.userInfo[ContentKeyError.UserInfoKey.code] as? String == "unfitForPlayer")
            #expect(failures.codes == ["unfitForPlayer"])
            #expect(stage.service(for: .vuDRM).licenses == 0)
        }
    }
}

/// A callback that keeps its errors.
private final class Answer: LicenseRequestCallback, Sendable {
    let errors = Locked<[NSError]>([])

    func request(request: LicenseRequest) { Issue.record("A request was given.") }
    func respond(license: Data) { Issue.record("A license was given.") }
    func error(error: any Error) { errors.withLock { $0.append(error as NSError) } }
}
