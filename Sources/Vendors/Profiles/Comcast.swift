import LatchkeyCore

/// Comcast Technology Solutions' thePlatform. Source: `vendors.md` §19.
///
/// The key URI has the word `FairPlay` where the release's PID belongs. Token and account travel in the license URL.
extension VendorProfile {
    /// thePlatform.
    public static let comcast = VendorProfile(
        identifier: "comcast", name: "Comcast thePlatform",
        parameters: [
            .setting(
                "certificateURL", "address of the application certificate", required: true,
                example: "https://cdn.example.com/fairplay.cer"),
            .setting(
                "licenseURL", "address of the entitlement service of the account's region", required: true,
                example: "https://fairplay.entitlement.theplatform.com/fpls/web/FairPlay"),
            .setting(
                "account", "account, an URL", required: true,
                example: "http://access.auth.theplatform.com/data/Account/1234567890"),
            .setting("releasePid", "PID of the release", required: true, example: "abcDEF012345"),
            .credential("token", "user token of the account", example: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ],
        contentIdentifier: .replacing(
            "FairPlay", with: .setting("releasePid"), in: .firstOf([.afterFirstQuestionMark, .lastPathComponent])),
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .setting("licenseURL"),
                [
                    .addQueryIfAbsent(name: "schema", value: "1.0"), .addQueryIfAbsent(name: "form", value: "json"),
                    .setQuery(name: "token", value: .credential("token")),
                    .setQuery(name: "account", value: .setting("account")),
                ]),
            body: .json([
                "getFairplayLicense": ["releasePid": .rule(.setting("releasePid")), "spcMessage": .rule(.spc)]
            ])),
        decoder: .json(["getFairplayLicenseResponse.ckcResponse"]),
        redaction: Redaction(fields: ["spcMessage", "ckcResponse"]))
}
