import Foundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import StandInPlayers
import THEOplayerSDK

/// A correct integration. A test can replace its parts.
final class TestIntegration: ContentProtectionIntegration, Sendable {
    /// The behavior of each hook.
    struct Script: Sendable {
        var certificateRequest: @Sendable (CertificateRequest, any CertificateRequestCallback) -> Void
        var certificateResponse: @Sendable (CertificateResponse, any CertificateResponseCallback) -> Void = {
            $0.status == 200 ? $1.respond(certificate: $0.body) : $1.error(error: TestIntegration.refusal)
        }
        var licenseRequest: @Sendable (LicenseRequest, any LicenseRequestCallback) -> Void
        var licenseResponse: @Sendable (LicenseResponse, any LicenseResponseCallback) -> Void = {
            $0.status == 200 ? $1.respond(license: $0.body) : $1.error(error: TestIntegration.refusal)
        }
        var identifier: @Sendable (String, any ExtractContentIdCallback) -> Void = {
            $1.respond(contentID: Data($0.utf8))
        }
    }

    static let refusal = NSError(domain: "app", code: 7, userInfo: [NSLocalizedDescriptionKey: "Refused."])

    private let script: Script

    /// Without a server it answers in its request hooks, without HTTP.
    init(_ server: KeyServer, _ demo: DemoServer? = nil, _ change: (inout Script) -> Void = { _ in }) {
        let (certificate, license) = (demo?.certificate, demo?.license)
        var script = Script(
            certificateRequest: { request, callback in
                guard let certificate else { return callback.respond(certificate: server.certificate) }
                request.url = certificate
                callback.request(request: request)
            },
            licenseRequest: { request, callback in
                if let license {
                    request.url = license
                    return callback.request(request: request)
                }
                do { callback.respond(license: try server.license(for: request.body ?? Data())) } catch {
                    callback.error(error: error as NSError)
                }
            })
        change(&script)
        self.script = script
    }

    func onCertificateRequest(request: CertificateRequest, callback: any CertificateRequestCallback) {
        script.certificateRequest(request, callback)
    }

    func onCertificateResponse(response: CertificateResponse, callback: any CertificateResponseCallback) {
        script.certificateResponse(response, callback)
    }

    func onLicenseRequest(request: LicenseRequest, callback: any LicenseRequestCallback) {
        script.licenseRequest(request, callback)
    }

    func onLicenseResponse(response: LicenseResponse, callback: any LicenseResponseCallback) {
        script.licenseResponse(response, callback)
    }

    func onExtractFairplayContentId(skdUrl: String, callback: any ExtractContentIdCallback) {
        script.identifier(skdUrl, callback)
    }
}

/// Uses the same integration for every stream.
final class TestFactory: ContentProtectionIntegrationFactory {
    private let integration: any ContentProtectionIntegration

    init(_ integration: any ContentProtectionIntegration) { self.integration = integration }

    func build(configuration: any DRMConfiguration) -> any ContentProtectionIntegration { integration }
}

extension THEOplayer {
    /// A player with an integration and a stream.
    static func playing(
        _ stream: DemoAsset, _ integration: any ContentProtectionIntegration,
        configuration: FairPlayDRMConfiguration = FairPlayDRMConfiguration(customIntegrationId: "test")
    ) -> THEOplayer {
        registerContentProtectionIntegration(
            integrationId: "test", keySystem: .FAIRPLAY, integrationFactory: TestFactory(integration))
        let player = THEOplayer()
        player.load(stream, configuration)
        player.play()
        return player
    }

    func load(
        _ stream: DemoAsset,
        _ configuration: FairPlayDRMConfiguration = FairPlayDRMConfiguration(customIntegrationId: "test")
    ) {
        let address = StandInFixture.playlist(of: stream).absoluteString
        source = SourceDescription(
            source: TypedSource(src: address, type: "application/x-mpegurl", drm: configuration))
    }
}
