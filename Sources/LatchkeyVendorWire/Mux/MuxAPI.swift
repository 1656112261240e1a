import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// Mux's wire: certificate and raw licenses from URLs that end in the playback ID and carry the token in the query.
///
/// The key URI's session token is opaque. It names the key if it is a key's identifier; otherwise the playback ID does, because all keys
/// of an asset have the same one.
///
/// Source: `Documentation/Vendors/Mux.md`.
package struct MuxAPI: VendorAPI {
    package static let name: VendorAPIName = "mux"

    package static let audience = VendorRule("audience", .notCovered, "M1", "A token's `aud` is `d`.")
    package static let subject = VendorRule("subject", .notCovered, "M1, M2", "A token's `sub` is the playback ID.")
    package static let rules = [audience, subject]

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/appcert/fairplay/{id}"), .license("/license/fairplay/{id}")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let playbackID = try playbackID(call)
        let key = RequestedKey.namedInSPC { identifier in
            let session = Self.uri(identifier).queryValue("token") ?? ""
            return KeyID(session) == nil ? playbackID : session
        }
        return LicenseQuestion(spc: try call.rawSPC(), key: key, token: call.request.queryValue("token")) {
            guard let stated = Self.uri($1).queryValue("playbackId"), stated != playbackID else { return nil }
            return .notCovered("The SPC is for another playback id than the URL.")
        }
    }

    /// The statuses that the vendor documents: 400 for a missing token or a wrong ID, 403 for tokens and unknown IDs.
    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
        let status =
            switch refusal.kind {
            case .tokenMissing: 400
            case .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature, .unknownKey, .ambiguousKey: 403
            default: refusal.status
            }
        return .text("\(refusal.code): \(refusal.reason)", status: status)
    }

    /// The playback ID of a request.
    package func playbackID(_ call: some VendorRequest) throws(LicenseRefusal) -> String {
        let id = call.path["id"]
        guard id.isMadeOfLettersDigits(and: "_-", limit: 128) else { throw .malformed("That is not a playback id.") }
        return id
    }

    /// The whole key URI, with or without its scheme. One client leaves a zero byte in front of the latter.
    private static func uri(_ identifier: ContentIdentifier) -> KeyURI {
        KeyURI(String((identifier.text ?? "").drop { $0 == "\0" }))
    }
}
