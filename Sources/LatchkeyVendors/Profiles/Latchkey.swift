import LatchkeyCore

/// `latchkey-server`, your own license server. Source: `Documentation/Vendors/Latchkey.md`.
///
/// The SPC names the key by the whole key URI, which the server reads by its tenant's template. The reply states the lease. The message
/// of a refusal is the server's reason, in words; its code is stable. Where the policy counts sessions, a license brings the token of
/// its slot: heartbeats show it as often as the license says, and the end of the source frees the slot.
extension VendorProfile {
    /// The server's own API.
    package static let latchkey = VendorProfile(
        identifier: "latchkey", name: "Latchkey's license server",
        parameters: [
            .certificateURL(required: true, example: "https://license.example.com/t/acme/certificate"),
            .licenseURL(required: true, example: "https://license.example.com/t/acme/fairplay"),
            .token("viewer's token, a JWT", example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
            .credential(
                "stop", "stop codes of sessions that the viewer gives up, with commas between them", required: false,
                example: "1f3k9"),
        ],
        contentIdentifierRule: .wholeURI,
        certificate: .fetched(.der),
        session: SessionRule(
            heartbeat: latchkeySession("POST", "/sessions/heartbeat"), teardown: latchkeySession("DELETE", "/sessions"),
            values: ["heartbeatToken": "heartbeatToken"], period: "heartbeat",
            errors: ErrorRules(
                successes: [200, 204], code: [.json("error.code")], message: [.json("error.reason")],
                kinds: latchkeyKinds)),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL),
            headers: [.bearer, .init("X-Terminate", .credential("stop"))],
            body: .json([
                "spc": .rule(.spc), "purpose": .rule(.firstOf([.onlyFor(.persistable, "download"), "stream"])),
            ])),
        decoder: .json(["ckc"]), sideValues: ["heartbeatToken": "heartbeatToken", "heartbeat": "heartbeat"],
        terms: TermsRule(lease: .reply("lease")),
        errors: ErrorRules(
            code: [.json("error.code")], message: [.json("error.reason")], kinds: latchkeyKinds),
        token: .jwt, statedRedaction: Redaction(fields: ["heartbeatToken"]),
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-22", "Sources/LatchkeyLicensing/APIs of this repository")
    )

    /// The meanings of the server's codes, if more specific than their status. Source: `Documentation/LicenseServer.md` §6.4.
    private static let latchkeyKinds = ErrorRules.kinds([
        .unauthenticated: ["tokenUsed"], .notYetValid: ["tokenNotYetValid", "notBegun"],
        .concurrencyLimit: ["sessionLimit", "sessionStopped"], .regionDenied: ["place"],
        .notFound: ["unknownKey", "unknownTenant", "sessionEnded", "heartbeatToken"],
        .invalidRequest: ["contentMismatch", "sessionMissing"],
    ])

    /// The session's addresses are next to the license's.
    private static func latchkeySession(_ method: String, _ path: String) -> RequestRule {
        RequestRule(
            method: method,
            url: URLRule(.all([.upTo("/fairplay", in: .setting("licenseURL")), .fixed(path)])),
            headers: [.init("Authorization", .all([.fixed("Bearer "), .session("heartbeatToken")]))])
    }
}
