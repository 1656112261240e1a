import LatchkeyCore

/// Azure Media Services' token.
enum AzureToken {
    /// The claim that, where it is there, has to be the key's id.
    static let keyClaim = "urn:microsoft:azure:mediaservices:contentkeyidentifier"
}

extension TokenInspection {
    /// The key's id, and issuer and audience where the settings `issuer` and `audience` say what they have to be.
    ///
    /// Source: `vendors.md` §3, token.
    mutating func readAzure(_ jwt: JWTClaims, _ use: TokenUse) {
        if let key = jwt.claims[AzureToken.keyClaim] as? String {
            add("key", key)
            if let wanted = use.wantedKeyID, KeyID(key) != wanted { advice.append(.keyNotCovered) }
        }
        if let issuer = use.settings["issuer"], jwt.claims["iss"] as? String != issuer {
            advice.append(.unsuitable("its issuer is not \(issuer.inFewWords)"))
        }
        if let audience = use.settings["audience"], !jwt.texts("aud").contains(audience) {
            advice.append(.unsuitable("its audience is not \(audience.inFewWords)"))
        }
    }
}
