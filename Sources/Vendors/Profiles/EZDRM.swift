public import Foundation

/// EZDRM. Source: `vendors.md` §5.
///
/// The key is chosen by the asset's GUID in the license URL's path: `https://fps.ezdrm.com/api/licenses/<guid>`. A key URI such as
/// `skd://fps.ezdrm.com/;<guid>` holds the GUID behind its last `;`.
extension VendorProfile {
    /// The license URL is a base, to which each key's GUID is added; one that ends in the GUID stays as it is.
    public static let ezdrm = VendorProfile(
        identifier: "ezdrm", name: "EZDRM",
        parameters: [
            ezdrmCertificateURL,
            .setting(
                "licenseURL", "address of the license service, in front of the asset's GUID",
                example: "https://fps.ezdrm.com/api/licenses"),
        ],
        contentIdentifier: .firstOf([.afterLast(";"), .wholeURI]),
        requestContentID: .firstOf([.afterLast(";"), .lastPathComponent]),
        certificate: .fetched(.der),
        license: RequestRule(method: "POST", url: URLRule(ezdrmBase, [.appendPathIfAbsent(.contentID)]), body: .raw),
        decoder: .raw, hosts: ["fps.ezdrm.com"])

    /// The license URL is complete, as THEOplayer takes it: for one key, or for a proxy.
    public static let ezdrmComplete = variant(of: .ezdrm, "ezdrm-complete", "EZDRM (complete license URL)") {
        $0.parameters = [
            ezdrmCertificateURL,
            .setting(
                "licenseURL", "complete address of the license", required: true,
                example: "https://fps.ezdrm.com/api/licenses/00000000-0000-0000-0000-000000000000"),
        ]
        $0.license.url = URLRule(.setting("licenseURL"))
    }

    /// The license URL has `^assetId^` where each key's GUID belongs, as in Shaka Player.
    public static let ezdrmTemplate = variant(of: .ezdrm, "ezdrm-template", "EZDRM (license URL with ^assetId^)") {
        $0.parameters = [
            ezdrmCertificateURL,
            .setting(
                "licenseURL", "address of the license service with ^assetId^ in the GUID's place", required: true,
                example: "https://fps.ezdrm.com/api/licenses/^assetId^"),
        ]
        $0.license.url = URLRule(
            .replacing("^assetId^", with: .percentEncoded(.contentID), in: .setting("licenseURL")))
    }

    /// As BetterPlayer: the SPC is made for the whole key URI, and `customdata` reaches the customer's authorization callback;
    /// without a token it is the GUID.
    public static let ezdrmCustomData = variant(of: .ezdrm, "ezdrm-customdata", "EZDRM (custom data)") {
        $0.parameters.append(
            .credential("token", "custom data for the authorization callback", required: false, example: "viewer-1"))
        $0.contentIdentifierRule = .wholeURI
        $0.license.url.changes.append(
            .setQuery(name: "customdata", value: .firstOf([.credential("token"), .contentID])))
    }

    /// As THEOplayer on the web: the SPC is made for the last part of the path, `;<guid>`.
    public static let ezdrmWeb = variant(of: .ezdrm, "ezdrm-web", "EZDRM (web players)") {
        $0.contentIdentifierRule = .lastPathComponent
    }

    private static let ezdrmBase = TextRule.firstOf([
        .setting("licenseURL"), "https://fps.ezdrm.com/api/licenses",
    ])
    private static let ezdrmCertificateURL = Parameter.setting(
        "certificateURL", "address of the application certificate", required: true,
        example: "https://fps.ezdrm.com/demo/video/eleisure.cer")
}

extension DRMIntegration where Self == VendorProfile {
    /// EZDRM with its own license service.
    /// - Parameter certificate: the address of the application certificate.
    public static func ezdrm(certificate: URL) -> VendorProfile {
        VendorProfile.ezdrm.setting("certificateURL", to: certificate.absoluteString)
    }
}
