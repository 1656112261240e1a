package import LatchkeyDecision
package import LatchkeyHTTP

/// Bunny Stream's wire with MediaCage Enterprise DRM: JSON both ways, library and video in the URL, the token in the query.
///
/// Source: `Documentation/Vendors/BunnyStream.md`.
package struct BunnyStreamAPI: VendorAPI {
    package static let name: VendorAPIName = "bunny-stream"
    package let ckc = CKCEnvelope.json
    /// The library in the paths; `nil` accepts any.
    package var library: String?

    package static let expires = VendorRule(
        "expires", .notCovered, "BU2", "`expires` is in seconds, not in milliseconds; after it the URL is refused.")
    package static let rules = [expires]

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        let library = library ?? "{library}"
        return [
            .certificate("/FairPlay/\(library)/certificate"), .license("/FairPlay/\(library)/license"),
            // The address on the page about tokens.
            .license("/FairPlayLicense/\(library)/{video}"),
        ]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        guard video(call)?.isEmpty == false else { throw .malformed("The query has no “videoId”.") }
        return LicenseQuestion(
            spc: try call.spc(in: try call.json()), key: .namedInSPC, token: call.request.queryValue("token"))
    }

    /// The video of a request, in its path or its query.
    package func video(_ call: some VendorRequest) -> String? {
        let video = call.path["video"]
        return video.isEmpty ? call.request.queryValue("videoId") : video
    }
}
