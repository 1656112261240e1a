public import Foundation
import LatchkeyCore

/// Titanium DRM by CommScope (Arris, Latens). Source: `vendors.md` §7.
///
/// Either a token from the Secure Token Server or a description of account and device opens the license. An app that has both
/// takes `titanium`: the token wins, and the description stays at home. Without either, nothing is sent.
extension VendorProfile {
    /// The token authorizes.
    public static let titanium = VendorProfile(
        identifier: "titanium", name: "Titanium (token)",
        parameters: titaniumAddresses + [
            .credential(
                "token", "JWT of the Secure Token Server", example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"
            )
        ],
        contentIdentifier: .lastPathComponent,
        certificate: .inlineOrFetched(.der),
        license: RequestRule(method: "POST", url: URLRule(.setting("licenseURL")), headers: [.bearer], body: .raw),
        decoder: .raw, token: .jwt)

    /// As THEOplayer on the web: everything behind `skd://` names the key.
    public static let titaniumWeb = variant(of: .titanium, "titanium-web", "Titanium (token, web players)") {
        $0.contentIdentifierRule = .remainder
    }

    /// The description of account and device authorizes.
    public static let titaniumDevice = variant(of: .titanium, "titanium-device", "Titanium (device)") {
        $0.parameters =
            titaniumAddresses + [
                .setting("customerName", "customer's name", required: true, example: "Operator"),
                .setting("accountName", "viewer's account", required: true, example: "account-1"),
                .setting("portalId", "portal's id", required: true, example: "portal-1"),
                .setting("friendlyName", "device's name for the viewer", required: true, example: "My iPhone"),
                .setting("appVersion", "app's version", example: "1.0"),
                .setting("deviceType", "kind of device", example: "iPhone"),
                .setting("deviceModel", "model of the device", example: "iPhone"),
                .setting("osType", "operating system", example: "iOS"),
                .setting("osVersion", "version of the operating system", example: "17.0"),
            ]
        $0.license.headers = [.init("X-TITANIUM-DRM-CDATA", .base64(.json(titaniumRegistration)))]
        $0.token = .opaque
        $0.statedRedaction = Redaction(headers: ["X-TITANIUM-DRM-CDATA"])
        $0.settings = [
            "appVersion": "1.0", "deviceType": "iPhone", "deviceModel": "iPhone", "osType": "iOS", "osVersion": "17.0",
        ]
    }

    private static let titaniumRegistration: JSONTemplate = [
        "LatensRegistration": [
            "CustomerName": .rule(.setting("customerName")), "AccountName": .rule(.setting("accountName")),
            "PortalId": .rule(.setting("portalId")), "FriendlyName": .rule(.setting("friendlyName")),
            "AppVersion": .rule(.setting("appVersion")),
            "DeviceInfo": [
                "FormatVersion": "1", "DeviceType": .rule(.setting("deviceType")),
                "OSType": .rule(.setting("osType")), "OSVersion": .rule(.setting("osVersion")),
                "DRMProvider": "Apple", "DRMVersion": "1.0", "DRMType": "FairPlay",
                "DeviceVendor": "Apple", "DeviceModel": .rule(.setting("deviceModel")),
            ],
        ]
    ]
    private static let titaniumAddresses: [Parameter] = [
        .setting(
            "certificate", "application certificate in base64; without it certificateURL is asked", example: "MIIB"),
        .setting(
            "certificateURL", "address of the application certificate", example: "https://titanium.example/fairplay.cer"
        ),
        .setting(
            "licenseURL", "address of the license service", required: true, example: "https://titanium.example/license"),
    ]
}

extension DRMIntegration where Self == VendorProfile {
    /// Titanium with a token.
    /// - Parameters:
    ///   - certificate: the address of the application certificate.
    ///   - license: the address of the license service.
    public static func titanium(certificate: URL, license: URL) -> VendorProfile {
        VendorProfile.titanium.setting("certificateURL", to: certificate.absoluteString)
            .setting("licenseURL", to: license.absoluteString)
    }
}
