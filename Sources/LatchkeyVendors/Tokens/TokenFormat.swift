package import Foundation
package import LatchkeyCore
import LatchkeyForms

/// The form of a vendor's token. A look into a token gives advice only, because a client cannot check its signature.
///
/// Source: `Documentation/Vendors/README.md` §23.9.
package enum TokenFormat: String, Sendable, Hashable, CaseIterable {
    /// A token without readable claims.
    case opaque
    /// A JSON Web Token: `exp`, `nbf`, and both claim generations of Cloud DRM.
    case jwt
    /// VuDRM's parts, separated by `|`.
    case vuDRM
    /// Azure's JWT, perhaps with the claim `…:contentkeyidentifier`.
    case azure
    /// Verimatrix's JWT: `sub` is the content id, `policy.fairplay` the terms.
    case verimatrix
    /// Axinom's JWT with a license service message and an entitlement message inside.
    case axinom
    /// NAGRA's content token: a JWT with `contentRights`, perhaps followed by a comma and other tokens.
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
    /// The longest token to look into, in bytes: 65,536. No request header takes a longer one.
    package static let maximumLength = 65_536

    /// The format that a token seems to have.
    package static func detect(_ token: String) -> TokenFormat {
        guard token.utf8.count <= maximumLength else { return .opaque }
        let bars = token.utf8.count { $0 == UInt8(ascii: "|") }
        // Words between bars are a service's message.
        if 3...4 ~= bars, !token.contains(where: \.isWhitespace) { return .vuDRM }
        if let jwt = JWTClaims(token) ?? JWTClaims.nagraContentToken(in: token) { return detect(jwt) }
        if PallyConToken(token) != nil { return .pallyCon }
        return KeyOSToken.isLikely(token) ? .keyOS : .opaque
    }

    private static func detect(_ jwt: JWTClaims) -> TokenFormat {
        let claims = jwt.claims
        if claims[JWTClaims.azureKeyClaim] != nil { return .azure }
        if claims["com_key_id"] != nil, claims["message"] != nil { return .axinom }
        if claims["crt"]?.text != nil { return .drmToday }
        if claims["contentRights"] != nil || claims["typ"]?.text == "ContentAuthZ" { return .nagra }
        if jwt.audience == ["d"] { return .mux }
        if jwt.value(["policy", "fairplay"]) != nil || claims["security_policy"] != nil { return .verimatrix }
        return .jwt
    }

    /// Inspects a token: its own claims and its problems.
    ///
    /// - Parameters:
    ///   - token: the token's text.
    ///   - keyID: the requested key. Checked if the token lists keys.
    ///   - contentID: the name of the key in the SPC. Checked if the token names content.
    ///   - purpose: the purpose of the request. The token has to allow a key to be stored.
    ///   - settings: the profile's settings. The token is compared with `issuer`, `audience`, `playbackId` and `certificateURL`, if given.
    ///   - date: the current time.
    package func inspect(
        _ token: String, keyID: KeyID? = nil, contentID: String? = nil, purpose: KeyPurpose = .streaming,
        settings: [String: String] = [:], at date: Date
    ) -> TokenInspection {
        var inspection = TokenInspection(format: self)
        guard token.utf8.count <= Self.maximumLength else {
            inspection.advice = [.malformed("\(token.utf8.count) bytes, more than any service takes")]
            return inspection
        }
        let use = TokenUse(keyID: keyID, contentID: contentID, purpose: purpose, settings: settings, date: date)
        let text = TokenText(token)
        if text.isPlaceholder {
            inspection.advice = [.malformed("it is a placeholder of a program or a sample")]
            return inspection
        }
        inspection.read(text.token, use)
        if text.isQuoted { inspection.advice.insert(.malformed("it is in quotation marks"), at: 0) }
        if text.hasBearer, self != .opaque {
            inspection.advice.insert(.malformed("the word Bearer precedes it and is not part of it"), at: 0)
        }
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
        case .jwt: readJWT(JWTClaims(token), use) { $0.readCloudDRM($1, $2) }
        case .azure: readJWT(JWTClaims(token), use) { $0.readAzure($1, $2) }
        case .verimatrix: readJWT(JWTClaims(token), use) { $0.readVerimatrix($1, $2) }
        case .axinom: readJWT(JWTClaims(token), use) { $0.readAxinom($1, $2) }
        case .drmToday: readJWT(JWTClaims(token), use) { $0.readDRMtoday($1, $2) }
        case .mux: readJWT(JWTClaims(token), use) { $0.readMux($1, $2) }
        case .nagra:
            readJWT(JWTClaims.nagraContentToken(in: token), use) { $0.readNAGRA($1, $2) }
            // After a comma follows the token of a session that the app opened.
            guard facts.contains(Fact(name: "needs a session", value: "true")), !token.contains(","),
                !use.settings.isEmpty, use.settings["sessionURL", default: ""].isEmpty
            else { return }
            advice.append(.needsSession)
        }
    }

    /// Reads what all JSON Web Tokens have in common, and then the claims that a vendor adds.
    private mutating func readJWT(
        _ claims: JWTClaims?, _ use: TokenUse, _ readVendor: (inout Self, JWTClaims, TokenUse) -> Void
    ) {
        guard let claims else {
            advice = [.malformed("not three parts of base64url JSON")]
            return
        }
        readCommonClaims(claims, use)
        readVendor(&self, claims, use)
    }
}
