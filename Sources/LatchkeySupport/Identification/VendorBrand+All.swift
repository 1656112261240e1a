import Foundation
import LatchkeyCore
import LatchkeyVendors

// Source: `Documentation/Vendors/README.md` §22, and the pages that the profiles name.
extension VendorBrand {
    /// All vendors. A vendor without distinctive values is known by its profile alone.
    static let all: [VendorBrand] = {
        let known = Set(own.compactMap(\.profile))
        let others = VendorProfile.vendorIdentifiers.filter { !known.contains($0) }.map { identifier in
            VendorBrand(profile: identifier, name: VendorProfile.named(identifier)?.name ?? identifier)
        }
        return own + others + withoutProfile
    }()

    /// The vendors that have distinctive hosts, paths, header fields or key URIs.
    private static let own: [VendorBrand] =
        [
            VendorBrand(
                profile: "vudrm", name: "VuDRM (JW Player Studio DRM Standalone)",
                hosts: ["vudrm.tech", "drm.technology"],
                headers: ["x-vudrm-token"]),
            VendorBrand(
                profile: "cloud-drm", name: "Cloud DRM (drm.cloud)", hosts: ["drm.cloud", "videokit.cloud"],
                paths: ["/acquire-license/fairplay", "/certificate/fairplay"],
                headers: ["x-drm-brandguid", "x-drm-usertoken"], queryItems: ["brandGuid"],
                keyURIs: [.query("BrandGuid", 30), .query("KID", 5)]),
            VendorBrand(
                profile: "azure", name: "Azure Media Services",
                hosts: ["keydelivery.mediaservices.windows.net", "media.azure.net", "mediaservices.windows.net"],
                keyURIs: [
                    Form(30, "has the path FairPlay and the query item kid") {
                        $0.pathComponents == ["FairPlay"] && $0.queryValue("kid") != nil
                    }
                ]),
            VendorBrand(
                profile: "uplynk", name: "Uplynk", hosts: ["uplynk.com"],
                keyURIs: [Form(15, "has b as its first query item") { $0.queryItems.first?.name == "b" }]),
            VendorBrand(
                profile: "ezdrm", name: "EZDRM", hosts: ["ezdrm.com"], paths: ["/api/licenses/"],
                keyURIs: [Form(30, "ends in a semicolon and a GUID") { KeyID($0.afterSemicolon) != nil }, .bareGUID]),
            VendorBrand(
                profile: "verimatrix", name: "Verimatrix", hosts: ["verimatrixcloud.net", "verimatrix.com"],
                keyURIs: [.oneComponent]),
            VendorBrand(profile: "titanium", name: "Titanium", headers: ["x-titanium-drm-cdata"]),
            VendorBrand(
                profile: "expressplay", name: "ExpressPlay", hosts: ["expressplay.com"],
                paths: ["/hms/fp/rights", "/sees/SEESServlet", "/hms/fp/token"],
                keyURIs: [
                    .query("ExpressPlayToken", 60), .query("cek", 30), .query("cid", 10),
                    Form(8, "has skd: without slashes") {
                        $0.raw.lowercased().hasPrefix("skd:") && !$0.raw.contains("//")
                    },
                ]),
            VendorBrand(
                profile: "nagra", name: "NAGRA", hosts: ["anycast.nagra.com", "nagra.com"],
                paths: ["/fpls/contentlicenseservice", "/ssm/v1"], headers: ["nv-authorizations", "nv-tenant-id"],
                keyURIs: [
                    Form(55, "holds JSON with a ContentId in base64") {
                        $0.decodedBase64?.contains("\"ContentId\"") == true
                    },
                    .base64,
                ]),
            VendorBrand(
                profile: "axinom", name: "Axinom DRM", hosts: ["axprod.net", "axtest.net", "axinom.com", "axinom.net"],
                paths: ["/AcquireLicense"], headers: ["x-axdrm-message", "x-axdrm-identity", "x-axdrm-version"],
                keyURIs: [Form(55, "is a GUID, a colon and an IV") { $0.isGUIDAndIV }, .bareGUID]),
            VendorBrand(
                profile: "keyos", name: "KeyOS (BuyDRM)", hosts: ["licensekeyserver.com", "keyos.com", "buydrm.com"],
                headers: ["x-keyos-authorization", "customdata"], keyURIs: [.oneComponent]),
            VendorBrand(
                profile: "drmtoday", name: "DRMtoday (castLabs)", hosts: ["drmtoday.com", "castlabs.com"],
                paths: ["/license-server-fairplay"],
                headers: [
                    "x-dt-custom-data", "dt-custom-data", "x-dt-auth-token", "x-dt-resp-code", "x-dt-error-message",
                    "x-dt-client-info",
                ],
                keyURIs: [.host("drmtoday", 60), .query("variantId", 35)]),
            VendorBrand(
                profile: "doverunner", name: "DoveRunner (PallyCon)", hosts: ["pallycon.com", "doverunner.com"],
                paths: ["/ri/licenseManager.do", "/ri/fpsKeyManager.do", "/ri/fpsCert.do"],
                headers: ["pallycon-customdata-v2"], keyURIs: [.oneComponent]),
            VendorBrand(
                profile: "irdeto", name: "Irdeto Control", hosts: ["irdeto.com"],
                paths: ["/getckc", "/licenseServer/streaming"]),
            VendorBrand(
                profile: "mux", name: "Mux", hosts: ["mux.com"], paths: ["/license/fairplay/", "/appcert/fairplay/"],
                keyURIs: [.query("playbackId", 45)]),
            VendorBrand(
                profile: "brightcove", name: "Brightcove Video Cloud",
                hosts: ["brightcove.com", "boltdns.net", "bcovlive.io"],
                paths: ["/fairplay_session_playback"], headers: ["bcov-auth"]),
            VendorBrand(profile: "jw-platform", name: "JW Platform", hosts: ["jwplayer.com", "jwplatform.com"]),
            VendorBrand(profile: "conax", name: "Conax", keyURIs: [.base64]),
            VendorBrand(
                profile: "comcast", name: "Comcast thePlatform", hosts: ["theplatform.com", "theplatform.eu"],
                paths: ["/fpls/web/FairPlay"], keyURIs: [.host("FairPlay", 45)]),
            VendorBrand(
                profile: "anvato", name: "Anvato", hosts: ["anvato.com", "anvato.net"], keyURIs: [.oneComponent]),
            VendorBrand(
                profile: "kaltura", name: "Kaltura uDRM", hosts: ["kaltura.com"], headers: ["x-kaltura-initdata"],
                keyURIs: [.oneComponent]),
            VendorBrand(profile: "gumlet", name: "Gumlet", hosts: ["gumlet.com", "gumlet.io"]),
            VendorBrand(
                profile: "bunny-stream", name: "Bunny Stream", hosts: ["bunnycdn.com", "mediadelivery.net"],
                paths: ["/FairPlayLicense/"]),
            VendorBrand(
                profile: "sigma", name: "Sigma Multi-DRM", hosts: ["sigmadrm.com"], paths: ["/license/verify/fairplay"],
                keyURIs: [
                    Form(40, "has the query items assetId and keyId") {
                        $0.queryValue("assetId") != nil && $0.queryValue("keyId") != nil
                            && $0.queryValue("variantId") == nil && $0.host != "drmtoday"
                    }
                ]),
            VendorBrand(
                profile: "naver", name: "NAVER Cloud One Click Multi DRM",
                hosts: ["multi-drm.apigw.ntruss.com", "multi-drm.apigw.gov-ntruss.com"],
                paths: ["/api/v1/license/fairPlay"], headers: ["x-drm-token", "x-ncp-apigw-signature-v2"]),
            VendorBrand(
                profile: "latchkey", name: "Latchkey's license server",
                headers: ["x-latchkey-purpose", "x-latchkey-renew-after", "x-latchkey-heartbeat-token"]),
            VendorBrand(profile: "apple-sample", name: "Apple's sample key server"),
            VendorBrand(profile: "generic", name: "Generic", keyURIs: [.oneComponent]),
        ]

    /// Vendors whose package pages do not describe the requests in full.
    static let withoutProfile: [VendorBrand] = [
        VendorBrand(
            profile: nil, name: "VdoCipher", hosts: ["vdocipher.com", "vdocipher.net"], paths: ["/auth/fps/"]),
        VendorBrand(profile: nil, name: "SDMC", hosts: ["multidrm.tv", "sdmc.tv"]),
    ]

    private typealias Form = KeyURIForm
}

extension VendorBrand.KeyURIForm {
    fileprivate static let bareGUID = Self(8, "is a GUID alone") { KeyID($0.remainder) != nil }

    fileprivate static let base64 = Self(10, "holds text in base64") { $0.decodedBase64 != nil }
}

extension KeyURI {
    fileprivate var afterSemicolon: String {
        guard let mark = remainderBeforeQuery.lastIndex(of: ";") else { return "" }
        return String(remainderBeforeQuery[mark...].dropFirst())
    }

    fileprivate var isGUIDAndIV: Bool {
        let parts = remainderBeforeQuery.split(separator: ":", maxSplits: 1).map(String.init)
        return parts.count == 2 && parts[0].utf8.count == 36 && KeyID(parts[0]) != nil && parts[1].utf8.count >= 22
    }

    /// The text of base64 before the query; `nil` if it is too short, or not base64.
    fileprivate var decodedBase64: String? {
        let text = remainderBeforeQuery
        guard text.utf8.count >= 12, text.utf8.count.isMultiple(of: 4), KeyID(text) == nil,
            let data = Data(base64Encoded: text), let decoded = String(data: data, encoding: .utf8),
            !decoded.unicodeScalars.contains(where: { $0.value < 0x20 })
        else { return nil }
        return decoded
    }
}
