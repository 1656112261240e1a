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
    /// The vendors of THEO's document.
    private static let vendors: [VendorProfile] = [
        .vuDRMTheo, .azure, .uplynk, .ezdrmComplete, .verimatrixQuery, .titaniumTheo,
    ]

    /// Registers a vendor's keys, and returns a player with a source that names them.
    private func player(
        _ profile: VendorProfile, on stage: PlayerStage, playing asset: DemoAsset = .transportStream,
        headers: [[String: String]]? = nil, parameters: [String: String]? = nil, failures: FailureLog = FailureLog()
    ) -> THEOplayer {
        THEOplayerKeys(profile, sentBy: .player, configuration: stage.configuration, onFailure: failures.add)
            .register(as: "test")
        let player = THEOplayer()
        player.source = stage.source(
            asset, for: profile, headers: headers,
            parameters: parameters ?? ["token": stage.service(for: profile).issue(nil).revealedText])
        return player
    }

    @Test(arguments: vendors)
    func `a documented vendor plays, and each hook is the adapter's own`(_ profile: VendorProfile) async throws {
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

    /// A complete license URL belongs to one key. The token is in the source, one for all keys: VuDRM refuses that.
    @Test(arguments: vendors.filter { $0.identifier != "ezdrm-complete" }, [DemoAsset.twoKeys, .rotation])
    func `each key of a stream gets its own license`(_ profile: VendorProfile, _ asset: DemoAsset) async throws {
        let special = { (environment: ServiceEnvironment) -> (any VendorService)? in
            VuDRMService(
                ServiceEnvironment(
                    authority: environment.authority, time: environment.time, lenient: ["vudrm/tokenOnce"]))
        }
        try await PlayerStage.with(special: special) { stage in
            let player = player(profile, on: stage, playing: asset)
            player.play()
            let result = try await player.standIn.finished()
            #expect(result.isRight && result.keyURIs.count > 1)
            #expect(stage.service(for: profile).licenses == result.keyURIs.count)
        }
    }

    @Test func `a certificate parameter is the player's and is not requested`() async throws {
        try await PlayerStage.with { stage in
            let (profile, service) = (VendorProfile.titaniumTheo, stage.service(for: .titaniumTheo))
            let certificate = try #require(service.parameters(at: "")["certificate"])
            let player = player(
                profile, on: stage,
                parameters: ["authToken": service.issue(nil).revealedText, "certificateData": certificate])
            player.play()
            #expect(try await player.standIn.finished().isRight)
            #expect(service.count(of: .certificate) == 0)
        }
    }

    /// The hooks of an integration, called as the SDK calls them.
    private func integration(_ parameters: [String: String], _ failures: FailureLog) throws -> PlayerIntegration {
        let keys = THEOplayerKeys(.vuDRMTheo, sentBy: .player, onFailure: failures.add)
        return try #require(
            keys.build(
                configuration: FairPlayDRMConfiguration(
                    licenseAcquisitionURL: "https://l.example/license", certificateURL: "https://c.example/fps.cer",
                    integrationParameters: parameters))
                as? PlayerIntegration)
    }

    @Test func `a field replaces the player's field of that name in any letter case`() async throws {
        let integration = try integration(["token": "t"], FailureLog())
        let request = LicenseRequest(
            url: "https://l.example", method: "POST", headers: ["content-type": "application/octet-stream"],
            body: Data([1]), fairplaySkdUrl: "skd://l.example/license/movie-1", useCredentials: false)
        let sent = await withCheckedContinuation { continuation in
            integration.onLicenseRequest(request: request, callback: Answer { continuation.resume(returning: $0) })
        }
        #expect(sent == ["Content-Type": "application/json"])
    }

    @Test func `a license request without a key is for the last named key`() async throws {
        let failures = FailureLog()
        let integration = try integration(["token": "t"], failures)
        let request = LicenseRequest(
            url: "https://l.example", method: "POST", headers: [:], body: Data([1]), fairplaySkdUrl: nil,
            useCredentials: false)
        integration.onExtractFairplayContentId(skdUrl: "skd://l.example/license/movie-1", callback: NoIdentifier())
        _ = await withCheckedContinuation { continuation in
            integration.onLicenseRequest(request: request, callback: Answer { continuation.resume(returning: $0) })
        }
        #expect(String(decoding: request.body ?? Data(), as: UTF8.self).contains(#""contentId":"movie-1""#))
        #expect(failures.all.isEmpty)
    }

    @Test func `an error shows no token of an earlier request`() async throws {
        let failures = FailureLog()
        let tokens = Locked(["first-token-1111", "second-token-2222"])
        let keys = THEOplayerKeys(
            .vuDRMTheo, credentials: .token { _ in tokens.withLock { $0.removeFirst() } }, sentBy: .player,
            onFailure: failures.add)
        let integration = keys.build(
            configuration: FairPlayDRMConfiguration(
                licenseAcquisitionURL: "https://l.example/license", certificateURL: "https://c.example/f.cer"))
        let key = "skd://l.example/license/movie-1"
        for _ in 1...2 {
            let request = LicenseRequest(
                url: "https://l.example", method: "POST", headers: [:], body: Data([1]), fairplaySkdUrl: key,
                useCredentials: false)
            _ = await withCheckedContinuation { continuation in
                integration.onLicenseRequest(request: request, callback: Answer { continuation.resume(returning: $0) })
            }
        }
        let request = LicenseRequest(
            url: "https://l.example", method: "POST", headers: [:], body: nil, fairplaySkdUrl: key,
            useCredentials: false)
        integration.onLicenseResponse(
            response: LicenseResponse(
                licenseRequest: request, url: "https://l.example", status: 403, statusText: "", headers: [:],
                body: Data(#"{"message":"not first-token-1111 nor second-token-2222"}"#.utf8)),
            callback: Answer { _ in })
        #expect(failures.codes == ["forbidden"])
        #expect(!failures.text.contains("first-token") && !failures.text.contains("second-token"))
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

    @Test func `a vendor that needs more than two requests is refused in words`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            // With a session address, the vendor wants a session first.
            let player = player(stage.configured(.nagra), on: stage, failures: failures)
            player.play()
            await #expect(throws: (any Error).self) { try await player.standIn.finished() }
            #expect(failures.codes.contains("unfitForPlayer"))
        }
    }

    @Test func `a source that wants cookies is refused by the loader, which has none`() async throws {
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
private final class Answer: LicenseRequestCallback, LicenseResponseCallback, Sendable {
    let errors = Locked<[NSError]>([])
    private let ended: (@Sendable ([String: String]) -> Void)?

    /// - Parameter ended: Takes the header fields of a request, or none with an error. Defaults to `nil`: no request is right.
    init(_ ended: (@Sendable ([String: String]) -> Void)? = nil) { self.ended = ended }

    func request(request: LicenseRequest) {
        if let ended { ended(request.headers) } else { Issue.record("A request was given.") }
    }

    func respond(license: Data) { Issue.record("A license was given.") }

    func error(error: any Error) {
        errors.withLock { $0.append(error as NSError) }
        ended?([:])
    }
}

private final class NoIdentifier: ExtractContentIdCallback, Sendable {
    func respond(contentID: Data?) {}
    func error(error: any Error) { Issue.record("\(error)") }
}
