public import Foundation
public import LatchkeyCore

/// What form a vendor's token has. Looking into it gives advice; a client cannot check a signature.
///
/// Source: `vendors.md` §23.9.
public enum TokenFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing to see.
    case opaque
    /// A JSON Web Token: `exp`, `nbf`, and both claim generations of Cloud DRM.
    case jwt
    /// VuDRM's parts, separated by `|`.
    case vuDRM
    /// Azure's JWT, perhaps with the claim `…:contentkeyidentifier`.
    case azure
    /// Verimatrix's JWT: `sub` is the content id, `policy.fairplay` the terms.
    case verimatrix
    /// Axinom's JWT around a license service message with an entitlement message inside.
    case axinom
    /// NAGRA's content token: a JWT with `contentRights`, perhaps with other tokens behind a comma.
    case nagra
    /// DRMtoday's JWT with `crt`, a JSON document in a text.
    case drmToday
    /// Mux's JWT: `sub` is the playback id, `aud` is `d`.
    case mux
    /// PallyCon's (DoveRunner's) JSON in base64.
    case pallyCon
    /// KeyOS's authentication XML in base64.
    case keyOS
}

extension TokenFormat {
    /// The longest token that is looked into, 65,536 bytes; a request header takes no longer one either.
    public static let maximumLength = 65_536

    /// The format that a token seems to have.
    public static func detect(_ token: String) -> TokenFormat {
        guard token.utf8.count <= maximumLength else { return .opaque }
        let parts = token.split(separator: "|", omittingEmptySubsequences: false).count
        if parts == 4 || parts == 5 { return .vuDRM }
        if let jwt = JWTClaims(token) ?? NAGRAToken.contentToken(in: token) { return detect(jwt) }
        if PallyConToken(token) != nil { return .pallyCon }
        return KeyOSToken.isLikely(token) ? .keyOS : .opaque
    }

    private static func detect(_ jwt: JWTClaims) -> TokenFormat {
        let claims = jwt.claims
        if claims[AzureToken.keyClaim] != nil { return .azure }
        if claims["com_key_id"] != nil, claims["message"] != nil { return .axinom }
        if claims["crt"] is String { return .drmToday }
        if claims["contentRights"] != nil || claims["typ"] as? String == "ContentAuthZ" { return .nagra }
        if jwt.texts("aud") == ["d"] { return .mux }
        if jwt.value(["policy", "fairplay"]) != nil || claims["security_policy"] != nil { return .verimatrix }
        return .jwt
    }

    /// What a token says of itself and what is wrong with it.
    ///
    /// - Parameters:
    ///   - token: the token's text.
    ///   - keyID: the key that it is wanted for; whether it covers the key is checked where the token lists keys.
    ///   - contentID: what the SPC names the key by, checked where the token names content.
    ///   - purpose: what the key is wanted for; a stored key needs the token's leave.
    ///   - settings: the profile's settings, such as `issuer`, `audience`, `playbackId` and `certificateURL`; the token is compared
    ///     with those that there are.
    ///   - date: the time to check its dates against.
    public func inspect(
        _ token: String, keyID: KeyID? = nil, contentID: String? = nil, purpose: KeyPurpose = .streaming,
        settings: [String: String] = [:], at date: Date
    ) -> TokenInspection {
        var inspection = TokenInspection(format: self)
        guard token.utf8.count <= Self.maximumLength else {
            inspection.advice = [.malformed("\(token.utf8.count) bytes, more than any service takes")]
            return inspection
        }
        let use = TokenUse(keyID: keyID, contentID: contentID, purpose: purpose, settings: settings, date: date)
        inspection.read(token, use)
        return inspection
    }
}

extension TokenInspection {
    fileprivate mutating func read(_ token: String, _ use: TokenUse) {
        switch format {
        case .opaque: break
        case .vuDRM: readVuDRM(token, use)
        case .pallyCon: readPallyCon(token, use)
        case .keyOS: readKeyOS(token, use)
        case .jwt, .azure, .verimatrix, .axinom, .drmToday, .mux, .nagra: readJWT(token, use)
        }
    }

    private mutating func readJWT(_ token: String, _ use: TokenUse) {
        let found = format == .nagra ? NAGRAToken.contentToken(in: token) : JWTClaims(token)
        guard let jwt = found else {
            advice = [.malformed("not three parts of base64url JSON")]
            return
        }
        readCommonClaims(jwt, use)
        switch format {
        case .azure: readAzure(jwt, use)
        case .verimatrix: readVerimatrix(jwt, use)
        case .axinom: readAxinom(jwt, use)
        case .drmToday: readDRMtoday(jwt, use)
        case .mux: readMux(jwt, use)
        case .nagra: readNAGRA(jwt, use)
        default: readCloudDRM(jwt, use)
        }
    }
}
