import Foundation

extension TokenInspection {
    /// The playback id in `sub`, the audience `d`, and the terms of offline playback.
    ///
    /// Source: `vendors.md` §15, token.
    mutating func readMux(_ jwt: JWTClaims, _ use: TokenUse) {
        if let wanted = use.settings["playbackId"] ?? use.queryValue("playbackId"),
            jwt.claims["sub"] as? String != wanted
        {
            advice.append(.keyNotCovered)
        }
        if !jwt.texts("aud").contains("d") { advice.append(.unsuitable("its aud is not d, the one of a DRM token")) }
        if jwt.claims["exp"] == nil { advice.append(.malformed("it has no exp")) }
        add("stored for", (jwt.claims["licenseExpiration"] as? NSNumber).map { "\($0) s" })
        add("plays for", (jwt.claims["playDuration"] as? NSNumber).map { "\($0) s" })
        checkStorage(jwt.claims["offline"] as? Bool ?? false, use)
    }
}
