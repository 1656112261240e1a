import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyVendorWire

/// A Mux DRM token: a JWT for one playback ID.
///
/// Source: `Documentation/Vendors/Mux.md`, token.
struct MuxToken: Sendable {
    private let claims: JSONValue

    /// - Parameters:
    ///   - text: the token.
    ///   - playbackID: the playback ID that it must be for.
    ///   - key: the key that signs tokens; `nil` accepts any signature.
    ///   - date: now.
    ///   - breach: refuses a breach of a rule, or allows it.
    init(
        _ text: String, for playbackID: String, key: Secret?, date: Date,
        breach: (VendorRule, String) throws(LicenseRefusal) -> Void
    ) throws(LicenseRefusal) {
        claims = try JSONWebToken.checked(text, algorithms: ["HS256", "RS256"], key: key, date: date).claims
        guard claims["exp"]?.number != nil else { throw .tokenMalformed("The token has no “exp”.") }
        if claims["aud"]?.texts?.contains("d") != true {
            try breach(MuxAPI.audience, "The token's “aud” is not “d”.")
        }
        if claims["sub"]?.text != playbackID {
            try breach(MuxAPI.subject, "The token's “sub” is not the playback id.")
        }
    }

    /// The terms that an offline token grants; `nil` for others.
    var terms: LicenseTerms? {
        guard claims["offline"]?.flag == true else { return nil }
        let (storage, playback) = (claims["licenseExpiration"]?.seconds, claims["playDuration"]?.seconds)
        if let storage, let playback { return LicenseTerms(.dualExpiry(storage: storage, playback: playback)) }
        return LicenseTerms((storage ?? playback).map { .persistentFor($0) } ?? .persistent)
    }
}
