/// EZDRM. Source: `Documentation/Vendors/EZDRM.md`.
///
/// The asset's GUID in the license URL's path chooses the key: `https://fps.ezdrm.com/api/licenses/<guid>`. A key URI such as
/// `skd://fps.ezdrm.com/;<guid>` has the GUID after its last `;`, and `skd://<guid>` is the GUID; a query is not part of it. Clients
/// accept the CKC raw, in base64 and between tags; anything but raw bytes is read with a warning.
extension VendorProfile {
    /// Each key's GUID is appended to the license URL, if the URL does not end in it.
    package static let ezdrm = VendorProfile(
        identifier: "ezdrm", name: "EZDRM",
        parameters: [
            ezdrmCertificateURL,
            .licenseURL(
                "address of the license service, in front of the asset's GUID",
                example: "https://fps.ezdrm.com/api/licenses"),
        ],
        contentIdentifierRule: ezdrmAsset, requestContentID: ezdrmAsset,
        certificate: .fetched(.der),
        license: RequestRule(method: "POST", url: URLRule(ezdrmBase, [.appendPathIfAbsent(.contentID)]), body: .raw),
        decoder: .preferring(.raw), hosts: ["fps.ezdrm.com"],
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-22", "THEOplayer/samples-drm-integration, shaka-player"))

    /// The license URL is complete, as in THEOplayer: for one key, or for a proxy.
    public static let ezdrmComplete = variant(of: .ezdrm, "ezdrm-complete", "EZDRM (complete license URL)") {
        $0.parameters = [
            ezdrmCertificateURL,
            .licenseURL(
                "complete address of the license", required: true,
                example: "https://fps.ezdrm.com/api/licenses/00000000-0000-0000-0000-000000000000"),
        ]
        $0.license.url = URLRule(.licenseURL)
    }

    /// The license URL has `^assetId^` in place of each key's GUID, as in Shaka Player.
    package static let ezdrmTemplate = variant(of: .ezdrm, "ezdrm-template", "EZDRM (license URL with ^assetId^)") {
        $0.parameters = [
            ezdrmCertificateURL,
            .licenseURL(
                "address of the license service with ^assetId^ in the GUID's place", required: true,
                example: "https://fps.ezdrm.com/api/licenses/^assetId^"),
        ]
        $0.license.url = URLRule(
            .replacing("^assetId^", with: .percentEncoded(.contentID), in: .licenseURL))
        $0.evidence = ProfileEvidence(.documented, read: "2026-11-21", "shaka-player, docs/tutorials/fairplay.md")
    }

    /// As BetterPlayer: the SPC is made for the whole key URI, and `customdata` reaches the customer's authorization callback;
    /// without a token it is the GUID.
    package static let ezdrmCustomData = variant(of: .ezdrm, "ezdrm-customdata", "EZDRM (custom data)") {
        $0.parameters.append(
            .token("custom data for the authorization callback", required: false, example: "viewer-1"))
        $0.contentIdentifierRule = .wholeURI
        $0.license.url.changes.append(
            .setQuery(name: "customdata", value: .firstOf([.token, .contentID])))
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-22", "BetterPlayer, EZDRM assets loader")
    }

    /// As THEOplayer on the web: the SPC is made for the last part of the path, `;<guid>`.
    package static let ezdrmWeb = variant(of: .ezdrm, "ezdrm-web", "EZDRM (web players)") {
        $0.contentIdentifierRule = .firstOf([.afterLast("/"), .remainder])
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/samples-drm-integration, web")
    }

    private static let ezdrmAsset = TextRule.from(
        .upTo("#", in: .remainderBeforeQuery), take: .firstOf([.afterLast(";"), .afterLast("/"), .wholeURI]))
    private static let ezdrmBase = TextRule.firstOf([
        .licenseURL, "https://fps.ezdrm.com/api/licenses",
    ])
    private static let ezdrmCertificateURL = Parameter.certificateURL(
        required: true,
        example: "https://fps.ezdrm.com/demo/video/eleisure.cer")
}
