public import Foundation

/// Azure Media Services and services that speak like it. Source: `vendors.md` §3.
///
/// The key is chosen by `kid` in the license URL. Clients differ in what names the key for the SPC and in the form's `assetId`:
/// `azure` as THEOplayer on iOS, `azure-web` as THEOplayer on the web, `azure-host` as Microsoft's sample. A policy without a
/// token ("open") needs no credential.
extension VendorProfile {
    /// The key is named by what stands behind the last `?`.
    public static let azure = VendorProfile(
        identifier: "azure", name: "Azure Media Services",
        parameters: [
            .setting(
                "certificateURL", "address of the application certificate", required: true,
                example: "https://account.blob.example/fairplay.cer"),
            .setting(
                "licenseURL", "address of key delivery, where the key URI does not hold it; gets the key URI's kid",
                example: "https://account.keydelivery.westus.media.azure.net/FairPlay/"),
            .credential(
                "token", "JWT, unless the content key policy is open", required: false,
                example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
        ],
        contentIdentifier: .firstOf([.afterLastQuestionMark, .wholeURI]),
        certificate: .fetched(RequestRule(url: URLRule(.setting("certificateURL")), headers: [.bearer]), .der),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .firstOf([.setting("licenseURL"), .httpsURI]), [.addQueryIfAbsent(name: "kid", value: .query("kid"))]),
            headers: [.bearer], body: .form([.init("spc", .spc), .init("assetId", .contentID)])),
        decoder: .tagged, token: .azure)

    /// The key is named by what stands behind the first `?`, else by the key URI if that is base64, else by its last part.
    public static let azureWeb = variant(of: .azure, "azure-web", "Azure Media Services (web players)") {
        $0.contentIdentifierRule = .firstOf([.afterFirstQuestionMark, .ifBase64(.remainder), .lastPathComponent])
    }

    /// The key is named by the key URI's host.
    public static let azureHost = variant(of: .azure, "azure-host", "Azure Media Services (Microsoft's sample)") {
        $0.contentIdentifierRule = .host
    }
}

extension DRMIntegration where Self == VendorProfile {
    /// Azure Media Services, with the license service that the key URI names.
    /// - Parameter certificate: the address of the application certificate.
    public static func azure(certificate: URL) -> VendorProfile {
        VendorProfile.azure.setting("certificateURL", to: certificate.absoluteString)
    }
}
