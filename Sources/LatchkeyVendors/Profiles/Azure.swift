/// Azure Media Services and compatible services. Source: `Documentation/Vendors/Azure.md`.
///
/// The item `kid` of the license URL chooses the key. Clients differ in the key's name in the SPC and in the form's `assetId`:
/// `azure` is THEOplayer on iOS, `azure-web` THEOplayer on the web, `azure-host` Microsoft's sample. An open policy needs no
/// credential.
extension VendorProfile {
    /// The text after the last `?` names the key.
    public static let azure = VendorProfile(
        identifier: "azure", name: "Azure Media Services",
        parameters: [
            .certificateURL(
                required: true,
                example: "https://account.blob.example/fairplay.cer"),
            .licenseURL(
                "address of key delivery, where the key URI does not hold it; gets the key URI's kid",
                example: "https://account.keydelivery.westus.media.azure.net/FairPlay/"),
            .token(
                "JWT, unless the content key policy is open", required: false,
                example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
        ],
        contentIdentifierRule: .firstOf([.afterLastQuestionMark, .wholeURI]),
        certificate: .fetched(RequestRule(url: URLRule(.certificateURL), headers: [.bearer]), .der),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .firstOf([.licenseURL, .httpsURI]), [.addQueryIfAbsent(name: "kid", value: .query("kid"))]),
            headers: [.bearer], body: .form([.init("spc", .spc), .init("assetId", .contentID)])),
        decoder: .tagged, token: .azure,
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-22", "THEOplayer/samples-drm-integration, ios"))

    /// The text after the first `?` names the key, else the key URI if that is base64, else the text after the last slash.
    package static let azureWeb = variant(of: .azure, "azure-web", "Azure Media Services (web players)") {
        $0.contentIdentifierRule = .firstOf([
            .afterFirstQuestionMark, .ifBase64(.remainder), .afterLast("/"), .remainder,
        ])
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/samples-drm-integration, web")
    }

    /// The key URI's host names the key.
    package static let azureHost = variant(of: .azure, "azure-host", "Azure Media Services (Microsoft's sample)") {
        $0.contentIdentifierRule = .host
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "Microsoft's HLSCatalog sample")
    }
}
