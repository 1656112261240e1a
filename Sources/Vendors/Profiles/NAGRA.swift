public import Foundation
import LatchkeyCore

/// NAGRA CONNECT, `nagra-ssp`: the license and the secure session. Source: `vendors.md` §9.1 and §9.2.
///
/// The key URI is base64 of a JSON text that names the key. The license carries the content token and, in a secure session,
/// the session's; a renewal carries the session token alone. Certificates come without a token, except with `nagra-theo`,
/// which does as THEOplayer. There is a session where `sessionURL` is given, with or without `/v1` at its end.
extension VendorProfile {
    /// As NAGRA's own players.
    public static let nagra = VendorProfile(
        identifier: "nagra", name: "NAGRA CONNECT",
        parameters: [
            .setting(
                "certificateURL", "address of the application certificate", required: true,
                example: "https://tenant.anycast.nagra.com/TENANT/fpls/contentlicenseservice/v1/certificates"),
            .setting(
                "licenseURL", "address of the license service", required: true,
                example: "https://tenant.anycast.nagra.com/TENANT/fpls/contentlicenseservice/v1/licenses"),
            .setting(
                "sessionURL", "address of secure session management, where sessions are in use",
                example: "https://tenant-ssm.anycast.nagra.com/TENANT/ssm/v1"),
            .setting("tenant", "tenant's name, for the header nv-tenant-id", example: "TENANT"),
            .setting("tokenHeader", "header field of the tokens", example: "nv-authorizations"),
            .credential(
                "token", "content token, a JWT", example: "eyJhbGciOiJIUzI1NiJ9.eyJ0eXAiOiJDb250ZW50QXV0aFoifQ.AAAA"),
        ],
        contentIdentifier: .base64Decoded(.remainderBeforeQuery),
        certificate: .fetched(.der),
        session: SessionRule(
            setting: "sessionURL", setup: nagraSession("setup", token: .credential("token")),
            heartbeat: nagraSession("heartbeat", token: .session("sessionToken")),
            teardown: nagraSession("teardown", token: .session("sessionToken")),
            values: ["sessionToken": "sessionToken"], period: "heartbeat", enforcedBy: "sessionToken"),
        license: nagraLicense(tokens: .joined([.credential("token"), .session("sessionToken")], separator: ",")),
        renewalRequest: nagraLicense(
            tokens: .session("sessionToken"), [.setQuery(name: "renew", value: "true")]),
        decoder: .json(["CkcMessage"]), sideValues: ["sessionToken": "sessionToken"],
        errors: ErrorRules(
            code: [.json("errorCode")], message: [.json("message")],
            kinds: ErrorRules.kinds([.concurrencyLimit: ["1007"]])),
        token: .nagra, redaction: Redaction(headers: ["nv-authorizations"], fields: ["sessionToken"]),
        settings: ["tokenHeader": "nv-authorizations"])

    /// As THEOplayer, which sends the content token for the certificate too.
    public static let nagraTheo = variant(of: .nagra, "nagra-theo", "NAGRA CONNECT (certificate with token)") {
        $0.certificate = .fetched(
            RequestRule(
                url: URLRule(.setting("certificateURL")), headers: [.init("{tokenHeader}", .credential("token"))]),
            .der)
    }

    private static func nagraSession(_ step: String, token: TextRule) -> RequestRule {
        RequestRule(
            method: "POST",
            url: URLRule(
                .setting("sessionURL"), [.appendPathIfAbsent("v1"), .appendPath("sessions"), .appendPath(.fixed(step))]),
            headers: [
                .init("Accept", "application/json"), .init("Content-Type", "application/json; charset=utf-8"),
                .init("{tokenHeader}", token),
            ], body: .json(.object([:])))
    }

    private static func nagraLicense(tokens: TextRule, _ changes: [URLRule.Change] = []) -> RequestRule {
        RequestRule(
            method: "POST", url: URLRule(.setting("licenseURL"), changes),
            headers: [
                .init("Accept", "application/json"), .init("{tokenHeader}", tokens),
                .init("nv-tenant-id", .setting("tenant")),
            ], body: .raw)
    }
}

extension DRMIntegration where Self == VendorProfile {
    /// NAGRA CONNECT.
    /// - Parameters:
    ///   - certificate: the address of the application certificate.
    ///   - license: the address of the license service.
    ///   - session: the address of secure session management, where sessions are in use.
    public static func nagra(certificate: URL, license: URL, session: URL? = nil) -> VendorProfile {
        VendorProfile.nagra.setting("certificateURL", to: certificate.absoluteString)
            .setting("licenseURL", to: license.absoluteString).setting("sessionURL", to: session?.absoluteString)
    }
}
