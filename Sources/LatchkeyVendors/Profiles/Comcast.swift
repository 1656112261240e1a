import LatchkeyCore

/// Comcast Technology Solutions' thePlatform. Source: `Documentation/Vendors/Comcast.md`.
///
/// The key URI has the word `FairPlay` in place of the release's PID; only the first occurrence counts. Token and account are in the
/// license URL.
extension VendorProfile {
    /// thePlatform.
    package static let comcast = VendorProfile(
        identifier: "comcast", name: "Comcast thePlatform",
        parameters: [
            .certificateURL(
                required: true,
                example: "https://cdn.example.com/fairplay.cer"),
            .licenseURL(
                "address of the entitlement service of the account's region", required: true,
                example: "https://fairplay.entitlement.theplatform.com/fpls/web/FairPlay"),
            .setting(
                "account", "account, an URL", required: true,
                example: "http://access.auth.theplatform.com/data/Account/1234567890"),
            .setting("releasePid", "PID of the release", required: true, example: "abcDEF012345"),
            .token("user token of the account", example: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ],
        contentIdentifierRule: .from(
            .replacing("FairPlay", with: .setting("releasePid"), in: .wholeURI),
            take: .firstOf([.afterFirstQuestionMark, .afterLast("/"), .remainder])),
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .licenseURL,
                [
                    .addQueryIfAbsent(name: "schema", value: "1.0"), .addQueryIfAbsent(name: "form", value: "json"),
                    .setQuery(name: "token", value: .token),
                    .setQuery(name: "account", value: .setting("account")),
                ]),
            body: .json([
                "getFairplayLicense": ["releasePid": .rule(.setting("releasePid")), "spcMessage": .rule(.spc)]
            ])),
        decoder: .json(["getFairplayLicenseResponse.ckcResponse"]),
        statedRedaction: Redaction(fields: ["spcMessage", "ckcResponse"]),
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/samples-drm-integration, web"))
}
