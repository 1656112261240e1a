public import Foundation
import LatchkeyCore

/// Brightcove Video Cloud. Source: `vendors.md` §16.
///
/// Certificate and license addresses stand in the catalog's source, `key_systems["com.apple.fps.1_0"]`. What name the SPC gives
/// the key is not published; the request's `key_id` decides. Nor is the name of the header that carries the optional
/// token; `Authorization` is assumed.
extension VendorProfile {
    /// Brightcove Video Cloud.
    public static let brightcove = VendorProfile(
        identifier: "brightcove", name: "Brightcove Video Cloud",
        parameters: [
            .setting(
                "certificateURL", "address of the certificate, from the catalog", required: true,
                example: "https://fps.example.com/fairplay.cer"),
            .setting(
                "licenseURL", "address of the license service; goes before the catalog's",
                example: "https://fps.example.com/license"),
            .setting(
                "keyRequestURL", "the source's key_request_url, from the catalog",
                example: "https://fps.example.com/key_request"),
            .setting(
                "baseURL", "what stands before /fairplay_session_playback, where the catalog names no address",
                example: "https://fps.example.com/v1"),
            .setting("publisherId", "account id, where it is known", example: "1234567890001"),
            .setting("applicationId", "FairPlay application id, where it is known", example: "demo"),
            .credential(
                "token", "playback token, a JWT, where the account restricts playback", required: false,
                example: "eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
        ],
        contentIdentifier: .lastPathComponent,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .firstOf([
                    .setting("licenseURL"), .setting("keyRequestURL"), .template("{baseURL}/fairplay_session_playback"),
                ])),
            headers: [.bearer],
            body: .json([
                "publisher_id": .rule(emptyUnless("publisherId")),
                "application_id": .rule(emptyUnless("applicationId")),
                "key_id": .rule(.contentID), "server_playback_context": .rule(.spc),
            ])),
        decoder: .raw, errors: ErrorRules(successes: [200, 201]), token: .jwt,
        redaction: Redaction(fields: ["server_playback_context"]))

    /// A setting, or the empty text where it is not given: the service wants the member all the same.
    private static func emptyUnless(_ setting: String) -> TextRule { .joined([.setting(setting), ""], separator: "") }
}

extension DRMIntegration where Self == VendorProfile {
    /// Brightcove Video Cloud with the addresses of the catalog.
    /// - Parameters:
    ///   - certificate: the source's certificate address.
    ///   - keyRequest: the source's key request address.
    public static func brightcove(certificate: URL, keyRequest: URL) -> VendorProfile {
        VendorProfile.brightcove.setting("certificateURL", to: certificate.absoluteString)
            .setting("keyRequestURL", to: keyRequest.absoluteString)
    }
}
