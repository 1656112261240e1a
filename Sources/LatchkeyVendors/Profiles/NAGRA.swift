import LatchkeyCore

/// NAGRA CONNECT, `nagra-ssp`: the license and the secure session. Source: `Documentation/Vendors/NAGRA.md` §1 and §2.
///
/// The key URI is base64 of a JSON text that names the key. The license request carries the content token and, in a secure session,
/// the session's token; a renewal carries only the session token. The certificate request carries no token, except with `nagra-theo`,
/// which does as THEOplayer. There is a session if `sessionURL` is given, with or without `/v1` at its end.
extension VendorProfile {
    /// As NAGRA's own players.
    package static let nagra = VendorProfile(
        identifier: "nagra", name: "NAGRA CONNECT",
        parameters: [
            .certificateURL(
                required: true,
                example: "https://tenant.anycast.nagra.com/TENANT/fpls/contentlicenseservice/v1/certificates"),
            .licenseURL(
                required: true,
                example: "https://tenant.anycast.nagra.com/TENANT/fpls/contentlicenseservice/v1/licenses"),
            .setting(
                "sessionURL", "address of secure session management, where sessions are in use",
                example: "https://tenant-ssm.anycast.nagra.com/TENANT/ssm/v1"),
            .setting("tenant", "tenant's name, for the header nv-tenant-id", example: "TENANT"),
            .setting("tokenHeader", "header field of the tokens", example: "nv-authorizations"),
            .token("content token, a JWT", example: "eyJhbGciOiJIUzI1NiJ9.eyJ0eXAiOiJDb250ZW50QXV0aFoifQ.AAAA"),
        ],
        contentIdentifierRule: .base64Decoded(.remainderBeforeQuery),
        certificate: .fetched(.der),
        session: SessionRule(
            setting: "sessionURL", setup: nagraSession("setup", token: .token),
            heartbeat: nagraSession("heartbeat", token: .session("sessionToken")),
            teardown: nagraSession("teardown", token: .session("sessionToken")),
            values: ["sessionToken": "sessionToken"], period: "heartbeat", enforcedBy: "sessionToken",
            errors: ErrorRules(code: [.json("errorCode")], message: [.json("message")], codes: nagraSessionCodes.codes)),
        license: nagraLicense(tokens: .joined([.token, .session("sessionToken")], separator: ",")),
        renewalRequest: nagraLicense(
            tokens: .session("sessionToken"), [.setQuery(name: "renew", value: "true")]),
        decoder: .json(["CkcMessage"]), sideValues: ["sessionToken": "sessionToken"],
        errors: ErrorRules(
            code: [.json("errorCode")], message: [.json("message")],
            codes: nagraLicenseCodes.codes),
        token: .nagra, statedRedaction: Redaction(headers: ["nv-authorizations"], fields: ["sessionToken"]),
        settings: ["tokenHeader": "nv-authorizations"],
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "NAGRA's open player plugin, docs.nagra.com mdrm"))

    /// As THEOplayer, which sends the content token for the certificate too.
    package static let nagraTheo = variant(of: .nagra, "nagra-theo", "NAGRA CONNECT (certificate with token)") {
        $0.certificate = .fetched(
            RequestRule(
                url: URLRule(.certificateURL), headers: [.init("{tokenHeader}", .token)]),
            .der)
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/samples-drm-integration")
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
            method: "POST", url: URLRule(.licenseURL, changes),
            headers: [
                .init("Accept", "application/json"), .init("{tokenHeader}", tokens),
                .init("nv-tenant-id", .setting("tenant")),
            ], body: .raw)
    }
}
