import LatchkeyCore

/// Brightcove Video Cloud. Source: `Documentation/Vendors/Brightcove.md`.
///
/// The catalog's source has the addresses of certificate and license, `key_systems["com.apple.fps.1_0"]`. Without them, the certificate
/// is the account's, and the license comes from `fps.brightcove.com`, as in the vendor's SDK. The key's name in the SPC is not published;
/// the request's `key_id`, the URI's last path component, decides. The token of an account that restricts playback is in `bcov-auth`,
/// without `Bearer`. Requests for keys that are stored carry `x-bolt-offline-license` and the rights in `x-bc-crt-config`.
extension VendorProfile {
    /// Brightcove Video Cloud.
    package static let brightcove = VendorProfile(
        identifier: "brightcove", name: "Brightcove Video Cloud",
        parameters: [
            .certificateURL(
                "address of the certificate, from the catalog; the account's unless given",
                example: "https://manifest.prod.boltdns.net/license/v1/fairplay_app_cert/1234567890001"),
            .licenseURL(
                "address of the license service; goes before the catalog's",
                example: "https://fps.example.com/license"),
            .setting(
                "keyRequestURL", "the source's key_request_url, from the catalog",
                example: "https://fps.example.com/key_request"),
            .setting(
                "baseURL", "the base URL before /fairplay_session_playback, if the catalog names no address",
                example: brightcoveBaseURL),
            .setting(
                "publisherId", "account id, where it is known; needed without certificateURL", example: "1234567890001"),
            .setting("applicationId", "FairPlay application id, where it is known", example: "demo"),
            .setting("customerRights", "rights of a key that is stored, as JSON", example: brightcovePurchase),
            .token(
                "playback token, a JWT, where the account restricts playback", required: false,
                example: "eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
        ],
        contentIdentifierRule: .firstOf([.lastPathComponent, .host]),
        certificate: .fetched(
            RequestRule(
                url: URLRule(
                    .firstOf([
                        .certificateURL,
                        .template("https://manifest.prod.boltdns.net/license/v1/fairplay_app_cert/{publisherId}"),
                    ]))), .der),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .firstOf([
                    .licenseURL, .setting("keyRequestURL"), .template("{baseURL}/fairplay_session_playback"),
                ])),
            headers: [
                .init("bcov-auth", .token),
                .init("x-bolt-offline-license", .onlyFor(.persistable, "true")),
                .init("x-bc-crt-config", .onlyFor(.persistable, .base64(.setting("customerRights")))),
            ],
            body: .json([
                "publisher_id": .rule(emptyUnless("publisherId")),
                "application_id": .rule(emptyUnless("applicationId")),
                "key_id": .rule(.contentID), "server_playback_context": .rule(.spc),
            ])),
        decoder: .raw, errors: brightcoveErrors, token: .jwt,
        hosts: ["manifest.prod.boltdns.net", "fps.brightcove.com"],
        statedRedaction: Redaction(headers: ["bcov-auth"], fields: ["server_playback_context"]),
        settings: ["baseURL": brightcoveBaseURL, "customerRights": brightcovePurchase],
        evidence: ProfileEvidence(
            .sampleRead, read: "2026-11-22", "BrightcoveOS/ios-player-samples, recorded catalogs, SDK reference"))

    private static let brightcoveBaseURL = "https://fps.brightcove.com/v1"
    private static let brightcovePurchase = #"{"profile":{"purchase":{}}}"#
    /// The subcodes of the vendor's Playback Rights error reference. An error is an array of one object.
    private static let brightcoveErrors = ErrorRules(
        successes: [200, 201],
        code: [.json("0.error_subcode"), .json("error_subcode"), .json("0.error_code"), .json("error_code")],
        message: [.json("0.message"), .json("message"), .text],
        codes: brightcoveCodes.codes)

    /// A setting, or the empty text if it is missing: the service requires the member.
    private static func emptyUnless(_ setting: String) -> TextRule { .joined([.setting(setting), ""], separator: "") }
}
