import Foundation
import LatchkeyCore

/// The claims of a JSON Web Token, read and not verified.
struct JWTClaims {
    let header: [String: Any]
    let claims: [String: Any]

    /// - Parameter token: three parts of base64url joined by dots, of which the first two are JSON objects; else nil.
    init?(_ token: some StringProtocol) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(String(parts[0])), let claims = Self.object(String(parts[1]))
        else { return nil }
        self.header = header
        self.claims = claims
    }

    /// A date claim at a path of names, in Unix seconds or ISO 8601.
    func date(_ path: String...) -> Date? { Self.date(value(path)) }

    /// A date in Unix seconds or ISO 8601.
    static func date(_ value: Any?) -> Date? {
        switch value {
        case let number as NSNumber: Date(unixSeconds: number.doubleValue)
        case let text as String: Date(lenientISO8601: text)
        default: nil
        }
    }

    /// A claim that is a text or an array of texts, such as `aud`.
    func texts(_ name: String) -> [String] {
        (claims[name] as? [String]) ?? (claims[name] as? String).map { [$0] } ?? []
    }

    /// A value at a path of names.
    func value(_ path: [String]) -> Any? {
        path.reduce(claims as Any?) { ($0 as? [String: Any])?[$1] }
    }

    private static func object(_ part: String) -> [String: Any]? {
        guard let data = Data(lenientBase64: part) else { return nil }
        return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    }
}

extension TokenInspection {
    /// What every JWT has: algorithm, parties, `exp`, `nbf`.
    mutating func readCommonClaims(_ jwt: JWTClaims, _ use: TokenUse) {
        add("algorithm", jwt.header["alg"] as? String)
        add("iss", jwt.claims["iss"] as? String)
        add("aud", jwt.texts("aud").joined(separator: ", "))
        add("sub", jwt.claims["sub"] as? String)
        checkEnd(jwt.date("exp"), use.date)
        checkStart(jwt.date("nbf"), use.date)
    }

    /// Both claim generations of Cloud DRM.
    ///
    /// Source: `vendors.md` §2, token.
    mutating func readCloudDRM(_ jwt: JWTClaims, _ use: TokenUse) {
        checkEnd(jwt.date("drmTokenInfo", "exp"), use.date)
        checkKeys(jwt, use.keyID)
        let claims = [["persistent"], ["fairplay", "persistent"], ["drmTokenInfo", "p", "pers"]]
        checkStorage(claims.lazy.compactMap { jwt.value($0) as? Bool }.first, use)
    }

    private mutating func checkKeys(_ jwt: JWTClaims, _ keyID: KeyID?) {
        guard let claim = jwt.claims["kid"] ?? jwt.value(["drmTokenInfo", "kid"]) else { return }
        let keys = (claim as? [String]) ?? (claim as? String).map { [$0] } ?? []
        add("keys", keys.joined(separator: ", "))
        guard let keyID, !keys.contains("*"), !keys.compactMap({ KeyID($0) }).contains(keyID) else { return }
        advice.append(.keyNotCovered)
    }
}
