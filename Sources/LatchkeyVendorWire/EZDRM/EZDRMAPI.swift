import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// EZDRM's wire: raw licenses from a URL that ends in the asset's GUID. The token is the query's `customdata`.
///
/// Source: `Documentation/Vendors/EZDRM.md`.
package struct EZDRMAPI: VendorAPI {
    package static let name: VendorAPIName = "ezdrm"
    /// How the CKC is written. The vendor's own form is raw, the default; clients accept the others, too.
    package var ckc = CKCEnvelope.raw

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/demo/video/eleisure.cer"), .license("/api/licenses/{asset...}")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let name: @Sendable (ContentIdentifier) -> String? = { $0.text.map(Self.asset) }
        let key = try asset(call).map { RequestedKey.named($0.description, inSPC: name) } ?? .namedInSPC(name)
        return LicenseQuestion(spc: try call.rawSPC(), key: key, token: call.request.queryValue("customdata"))
    }

    /// The GUID at the end of the path, with or without the `;` that some clients keep before it; `nil` for the base URL alone.
    private func asset(_ call: some VendorRequest) throws(LicenseRefusal) -> KeyID? {
        var text = call.path["asset"]
        guard !text.isEmpty else {
            // A customer's proxy has one address for all keys.
            if !call.request.path.hasPrefix("/proxy") {
                try call.breach(of: Self.assetInURL, "The license URL names no asset.")
            }
            return nil
        }
        if text.hasPrefix(";") {
            call.warn("semicolon", "a “;” precedes the asset in the path")
            text.removeFirst()
        }
        guard let id = KeyID(text) else { throw .malformed("The path does not end in an asset's GUID.") }
        return id
    }

    private static let assetInURL = VendorRule(
        "assetInURL", .malformedRequest, "E3", "The license URL is `https://fps.ezdrm.com/api/licenses/<guid>`.",
        passesHere: true)
    package static let rules = [assetInURL]

    /// The text after the last `;`, or the last path component: the GUID alone, `;` and GUID, and the whole key URI are all in use. A query
    /// or a fragment names no asset.
    private static func asset(_ identifier: String) -> String {
        let path = identifier.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let parts = path.split { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "/") }
        return parts.last.map { String(Substring($0)) } ?? identifier
    }
}
