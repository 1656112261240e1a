import LatchkeyCore

/// Anvato. Source: `Documentation/Vendors/Anvato.md`.
extension VendorProfile {
    /// Anvato.
    package static let anvato = VendorProfile(
        identifier: "anvato", name: "Anvato",
        parameters: [
            .certificateURL(
                required: true,
                example: "https://drm.example.com/fairplay.cer"),
            .licenseURL(
                required: true,
                example: "https://drm.example.com/license"),
        ],
        contentIdentifierRule: .remainder,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL),
            body: .json(["spc": .rule(.spc), "assetid": .rule(.contentID)])),
        decoder: .json(["ckc"]),
        // The status of a refusal is not published. Its code is assumed to be an HTTP status.
        errors: ErrorRules(
            code: [.json("error.code")], message: [.json("error.message")],
            kinds: [
                "401": .unauthenticated, "403": .forbidden, "404": .notFound, "429": .rateLimited,
                "500": .serverTransient, "503": .serverTransient,
            ],
            refusesWithSuccess: true),
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/react-native-theoplayer-drm"))
}
