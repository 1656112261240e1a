/// Anvato. Source: `vendors.md` §19.
extension VendorProfile {
    /// Anvato.
    public static let anvato = VendorProfile(
        identifier: "anvato", name: "Anvato",
        parameters: [
            .setting(
                "certificateURL", "address of the application certificate", required: true,
                example: "https://drm.example.com/fairplay.cer"),
            .setting(
                "licenseURL", "address of the license service", required: true,
                example: "https://drm.example.com/license"),
        ],
        contentIdentifier: .remainder,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.setting("licenseURL")),
            body: .json(["spc": .rule(.spc), "assetid": .rule(.contentID)])),
        decoder: .json(["ckc"]),
        // Whether a refusal has a status of its own is not published; its code is an HTTP status (assumed).
        errors: ErrorRules(
            code: [.json("error.code")], message: [.json("error.message")],
            kinds: [
                "401": .unauthenticated, "403": .forbidden, "404": .notFound, "429": .rateLimited,
                "500": .serverTransient, "503": .serverTransient,
            ],
            refusesWithSuccess: true))
}
