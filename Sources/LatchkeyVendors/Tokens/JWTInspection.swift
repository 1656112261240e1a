import Foundation
import LatchkeyCore
import LatchkeyForms

// The claims of the vendors' JSON Web Tokens. `TokenFormat.inspect` chooses the vendor.
extension TokenInspection {
    /// The claims of every JWT: algorithm, parties, `exp`, `nbf`.
    mutating func readCommonClaims(_ jwt: JWTClaims, _ use: TokenUse) {
        add("algorithm", jwt.header["alg"]?.text)
        add("iss", jwt.claims["iss"]?.text)
        add("aud", jwt.audience.joined(separator: ", "))
        add("sub", jwt.claims["sub"]?.text)
        for name in ["exp", "nbf", "iat"] where jwt.claims[name]?.isMilliseconds == true {
            return advice.append(.malformed("its \(name) is in milliseconds, and a JWT's dates are in seconds"))
        }
        checkEnd(jwt.date("exp"), use.date)
        checkStart(jwt.date("nbf"), use.date)
    }

    // MARK: - Cloud DRM

    /// Both claim generations of Cloud DRM.
    ///
    /// Source: `Documentation/Vendors/CloudDRM.md`, token.
    mutating func readCloudDRM(_ jwt: JWTClaims, _ use: TokenUse) {
        checkEnd(jwt.date("drmTokenInfo", "exp"), use.date)
        checkKeys(jwt, use.keyID)
        let claims = [["persistent"], ["fairplay", "persistent"], ["drmTokenInfo", "p", "pers"]]
        checkStorage(claims.lazy.compactMap { jwt.value($0)?.flag }.first, use)
    }

    private mutating func checkKeys(_ jwt: JWTClaims, _ keyID: KeyID?) {
        guard let claim = jwt.claims["kid"] ?? jwt.value(["drmTokenInfo", "kid"]) else { return }
        let keys = claim.texts ?? []
        add("keys", keys.joined(separator: ", "))
        guard let keyID, !keys.contains("*"), !keys.compactMap({ KeyID($0) }).contains(keyID) else { return }
        advice.append(.keyNotCovered)
    }

    // MARK: - Axinom

    /// The license service message (`begin_date`, `expiration_date`) and the entitlement message inside it: the license's
    /// window, the ids of its keys, `allow_persistence`.
    ///
    /// Source: `Documentation/Vendors/Axinom.md`, token.
    mutating func readAxinom(_ jwt: JWTClaims, _ use: TokenUse) {
        add("communication key", jwt.claims["com_key_id"]?.text)
        checkStart(jwt.date("begin_date"), use.date, as: "message begins")
        checkEnd(jwt.date("expiration_date"), use.date, as: "message expires")
        guard let message = jwt.claims["message"], message["type"]?.text == "entitlement_message" else {
            advice.append(.malformed("it holds no entitlement message"))
            return
        }
        let license = message["license"]
        checkStart(license?["start_datetime"]?.date, use.date, as: "license begins")
        checkEnd(license?["expiration_datetime"]?.date, use.date, as: "license expires")
        add("license lasts", license?["duration"]?.seconds)
        checkAxinomKeys(message, use)
        checkStorage(license?["allow_persistence"]?.flag ?? false, use)
    }

    private mutating func checkAxinomKeys(_ message: JSONValue, _ use: TokenUse) {
        guard let inline = message["content_keys_source"]?["inline"]?.elements else { return }
        let keys = inline.compactMap { $0["id"]?.text }
        add("keys", keys.joined(separator: ", "))
        guard let wanted = use.wantedKeyID, !keys.compactMap({ KeyID($0) }).contains(wanted) else { return }
        advice.append(.keyNotCovered)
    }

    // MARK: - Azure

    /// The key's id. Also checks issuer and audience if the settings `issuer` and `audience` state them.
    ///
    /// Source: `Documentation/Vendors/Azure.md`, token.
    mutating func readAzure(_ jwt: JWTClaims, _ use: TokenUse) {
        if let key = jwt.claims[JWTClaims.azureKeyClaim]?.text {
            add("key", key)
            if let wanted = use.wantedKeyID, KeyID(key) != wanted { advice.append(.keyNotCovered) }
        }
        if let issuer = use.settings["issuer"], jwt.claims["iss"]?.text != issuer {
            advice.append(.unsuitable("its issuer is not \(issuer.inFewWords)"))
        }
        if let audience = use.settings["audience"], !jwt.audience.contains(audience) {
            advice.append(.unsuitable("its audience is not \(audience.inFewWords)"))
        }
    }

    // MARK: - DRMtoday

    /// The asset of this key in `crt`, a JSON array in a text, and whether its license may be stored.
    ///
    /// Source: `Documentation/Vendors/DRMtoday.md`, token.
    mutating func readDRMtoday(_ jwt: JWTClaims, _ use: TokenUse) {
        guard let text = jwt.claims["crt"]?.text, let assets = JSONValue(text.utf8)?.elements else {
            advice.append(.malformed("its crt is not the text of a JSON array"))
            return
        }
        add("assets", assets.compactMap { $0["assetId"]?.text }.joined(separator: ", "))
        guard let asset = assets.first(where: { Self.covers($0, use) }) else {
            advice.append(.keyNotCovered)
            return
        }
        add("variant", asset["variantId"]?.text)
        if case .object(let profile) = asset["profile"] {
            add("profile", profile.keys.sorted().joined(separator: ", "))
        }
        checkStorage(asset["storeLicense"]?.flag ?? false, use)
    }

    private static func covers(_ asset: JSONValue, _ use: TokenUse) -> Bool {
        ["assetId", "variantId"].allSatisfy { name in
            guard let wanted = use.queryValue(name), !wanted.isEmpty else { return true }
            // A right without the name may be for any asset.
            guard let given = asset[name]?.text, !given.isEmpty else { return true }
            return given == wanted
        }
    }

    // MARK: - Mux

    /// The playback id in `sub`, the audience `d`, and the terms of offline playback.
    ///
    /// Source: `Documentation/Vendors/Mux.md`, token.
    mutating func readMux(_ jwt: JWTClaims, _ use: TokenUse) {
        if let wanted = use.settings["playbackId"] ?? use.queryValue("playbackId"),
            jwt.claims["sub"]?.text != wanted
        {
            advice.append(.keyNotCovered)
        }
        if !jwt.audience.contains("d") { advice.append(.unsuitable("its aud is not d, the one of a DRM token")) }
        if jwt.claims["exp"] == nil { advice.append(.malformed("it has no exp")) }
        add("stored for", jwt.claims["licenseExpiration"]?.seconds)
        add("plays for", jwt.claims["playDuration"]?.seconds)
        checkStorage(jwt.claims["offline"]?.flag ?? false, use)
    }

    // MARK: - NAGRA

    /// The right for this content: its window, whether its key may be stored, and whether it needs a session.
    ///
    /// Source: `Documentation/Vendors/NAGRA.md` §1, content token.
    mutating func readNAGRA(_ jwt: JWTClaims, _ use: TokenUse) {
        guard let rights = jwt.claims["contentRights"]?.elements else {
            advice.append(.malformed("it holds no contentRights"))
            return
        }
        add("content", rights.compactMap { $0["contentId"]?.text }.joined(separator: ", "))
        let wanted = use.contentID.map(Self.contentID)
        guard let right = wanted.map({ id in rights.first { $0["contentId"]?.text == id } }) ?? rights.first
        else {
            advice.append(.keyNotCovered)
            return
        }
        checkStart(right["start"]?.date, use.date, as: "right begins")
        checkEnd(right["end"]?.date, use.date, as: "right ends")
        let control = right["sessionControl"]
        add("needs a session", (control?["sessionControlEnabled"]?.flag).map(String.init))
        add("concurrent sessions", control?["maxSessions"]?.canonicalText)
        checkStorage(right["storable"]?.flag ?? false, use)
    }

    /// The content id inside the JSON document by which the SPC names a key, or the text itself.
    private static func contentID(_ text: String) -> String {
        JSONReply(Data(text.utf8))?.text(at: "ContentId") ?? text
    }

    // MARK: - Verimatrix

    /// How long a license token lives after `iat`, in seconds, whatever its `exp`.
    private static let verimatrixLife = 120.0

    /// The end of the token, two minutes after `iat`, which is required, at most; the content id in `sub`; the lease and the permission to store in
    /// `policy.fairplay`.
    ///
    /// Source: `Documentation/Vendors/Verimatrix.md`, token.
    mutating func readVerimatrix(_ jwt: JWTClaims, _ use: TokenUse) {
        if jwt.claims["iat"] == nil { advice.append(.malformed("it has no iat")) }
        if let end = jwt.date("iat")?.addingTimeInterval(Self.verimatrixLife), end < jwt.date("exp") ?? .distantFuture {
            checkEnd(end, use.date, as: "good for a license until")
        }
        if let wanted = use.contentID, let subject = jwt.claims["sub"]?.text, subject != wanted {
            advice.append(.keyNotCovered)
        }
        guard let policy = jwt.value(["policy", "fairplay"]) else { return }
        for (name, claim) in [
            ("key duration", "key_duration"), ("lease", "lease_duration"), ("storage", "persistence_duration"),
        ] {
            add(name, policy[claim]?.seconds)
        }
        // A policy without the claim does not allow the key to be stored.
        checkStorage(policy["persistence"]?.flag ?? false, use)
    }
}
