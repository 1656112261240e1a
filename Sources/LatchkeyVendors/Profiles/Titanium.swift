import LatchkeyCore

/// Titanium DRM by CommScope (Arris, Latens). Source: `Documentation/Vendors/Titanium.md`.
///
/// Either a token from the Secure Token Server or a description of account and device authorizes the license. An app that has both uses
/// `titanium`, which sends the token and not the description. Without either, nothing is sent.
///
/// The last component of the key URI's path, or else its host, names the key: `asset-42` of `skd://asset-42?x=1`. THEOplayer on
/// iOS uses the text after the last slash, including a query (`titanium-theo`), on the web everything after `skd://`
/// (`titanium-web`). For an id alone, or an id after a slash, the three are the same.
extension VendorProfile {
    /// The token authorizes.
    package static let titanium = VendorProfile(
        identifier: "titanium", name: "Titanium (token)",
        parameters: titaniumAddresses + [
            .token(
                "JWT of the Secure Token Server", example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"
            ).known(as: "authToken")
        ],
        contentIdentifierRule: .firstOf([.lastPathComponent, .host]),
        certificate: .inlineOrFetched(.der),
        license: RequestRule(method: "POST", url: URLRule(.licenseURL), headers: [.bearer], body: .raw),
        decoder: .raw, token: .jwt,
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-22", "THEOplayer/samples-drm-integration, ios and web"))

    /// As THEOplayer on iOS: the text after the last slash names the key.
    public static let titaniumTheo = variant(
        of: .titanium, "titanium-theo", "Titanium (token, text behind the last slash)"
    ) {
        $0.contentIdentifierRule = .afterLast("/")
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-22", "THEOplayer/samples-drm-integration, ios")
    }

    /// As THEOplayer on the web: everything after `skd://` names the key.
    package static let titaniumWeb = variant(of: .titanium, "titanium-web", "Titanium (token, web players)") {
        $0.contentIdentifierRule = .remainder
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/samples-drm-integration, web")
    }

    /// The description of account and device authorizes, as in THEOplayer on iOS without a token.
    public static let titaniumDevice = variant(of: .titaniumTheo, "titanium-device", "Titanium (device)") {
        $0.parameters =
            titaniumAddresses + [
                .setting("customerName", "customer's name", required: true, example: "Operator"),
                .setting("accountName", "viewer's account", required: true, example: "account-1"),
                .setting("portalId", "portal's id", required: true, example: "portal-1"),
                .setting("friendlyName", "device's name for the viewer", example: "My iPhone"),
                .setting("appVersion", "app's version", example: "1.0"),
                .setting("deviceType", "kind of device", example: "iPhone"),
                .setting("deviceModel", "model of the device", example: "iPhone"),
                .setting("osType", "operating system", example: "iOS"),
                .setting("osVersion", "version of the operating system", example: "17.0"),
            ]
        $0.license.headers = [.init("X-TITANIUM-DRM-CDATA", .base64(.json(titaniumRegistration)))]
        $0.token = .opaque
        $0.statedRedaction = Redaction(headers: ["X-TITANIUM-DRM-CDATA"])
        $0.settings = PlaybackDevice.current.titaniumSettings
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
            SettingName.certificate, "application certificate in base64; without it certificateURL is asked",
            example: "MIIB"
        ).known(as: "certificateData"),
        .certificateURL(example: "https://titanium.example/fairplay.cer"),
        .licenseURL(required: true, example: "https://titanium.example/license"),
    ]
}

extension PlaybackDevice {
    /// The device as settings of `titanium-device`.
    var titaniumSettings: [String: String] {
        [
            "appVersion": appVersion, "deviceType": kind, "deviceModel": model, "osType": system,
            "osVersion": systemVersion,
        ]
    }
}
