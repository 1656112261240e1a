import Foundation
import LatchkeyCore

/// The claims of a JSON Web Token, read and not verified.
struct JWTClaims {
    let header: [String: Any]
    let claims: [String: Any]

    /// - Parameter token: three parts of base64url joined by dots, of which the first two are JSON objects; else nil.
    init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]) else {
            return nil
        }
        self.header = header
        self.claims = claims
    }

    /// A date claim in Unix seconds, at a path of names.
    func unixDate(_ path: String...) -> Date? {
        (value(path) as? NSNumber).map { Date(timeIntervalSince1970: $0.doubleValue) }
    }

    /// A value at a path of names.
    func value(_ path: [String]) -> Any? {
        path.reduce(claims as Any?) { ($0 as? [String: Any])?[$1] }
    }

    private static func object(_ part: Substring) -> [String: Any]? {
        guard let data = Data(lenientBase64: String(part)) else { return nil }
        return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    }
}

extension TokenInspection {
    /// Looks into a JWT: `exp`, `nbf`, and both claim generations of Cloud DRM.
    ///
    /// Source: `vendors.md` §2, token.
    static func jwt(_ token: String, keyID: KeyID?, purpose: KeyPurpose, at date: Date) -> Self {
        var inspection = Self(format: .jwt)
        guard let jwt = JWTClaims(token) else {
            inspection.advice = [.malformed("not three parts of base64url JSON")]
            return inspection
        }
        inspection.add("algorithm", jwt.header["alg"] as? String)
        for name in ["iss", "aud", "sub"] { inspection.add(name, jwt.claims[name] as? String) }
        inspection.checkDates(jwt, date)
        inspection.checkKeys(jwt, keyID)
        inspection.checkPersistence(jwt, purpose)
        return inspection
    }

    private mutating func checkDates(_ jwt: JWTClaims, _ date: Date) {
        let older = (jwt.value(["drmTokenInfo", "exp"]) as? String).flatMap(Date.init(lenientISO8601:))
        let expiry = [jwt.unixDate("exp"), older].compactMap { $0 }.min()
        add("expires", expiry?.iso8601)
        add("valid from", jwt.unixDate("nbf")?.iso8601)
        if let expiry, expiry <= date { advice.append(.expired(expiry)) }
        if let start = jwt.unixDate("nbf"), start > date { advice.append(.notYetValid(start)) }
    }

    private mutating func checkKeys(_ jwt: JWTClaims, _ keyID: KeyID?) {
        guard let claim = jwt.claims["kid"] ?? jwt.value(["drmTokenInfo", "kid"]) else { return }
        let keys = (claim as? [String]) ?? (claim as? String).map { [$0] } ?? []
        add("keys", keys.joined(separator: ", "))
        guard let keyID, !keys.contains("*"), !keys.compactMap({ KeyID($0) }).contains(keyID) else { return }
        advice.append(.keyNotCovered)
    }

    private mutating func checkPersistence(_ jwt: JWTClaims, _ purpose: KeyPurpose) {
        let claims = [["persistent"], ["fairplay", "persistent"], ["drmTokenInfo", "p", "pers"]]
        let allowed = claims.lazy.compactMap { jwt.value($0) as? Bool }.first
        add("may be stored", allowed.map(String.init))
        if purpose == .persistable, allowed == false { advice.append(.noOfflineRight) }
    }

    mutating func add(_ name: String, _ value: String?) {
        if let value, !value.isEmpty { facts.append(Fact(name: name, value: value)) }
    }
}

extension Date {
    /// Reads ISO 8601 as vendors write it: with or without fractions of a second, `Z` or an offset.
    init?(lenientISO8601 text: String) {
        let format = ISO8601DateFormatter()
        for options: ISO8601DateFormatter.Options in [
            [.withInternetDateTime], [.withInternetDateTime, .withFractionalSeconds],
        ] {
            format.formatOptions = options
            if let date = format.date(from: text) {
                self = date
                return
            }
        }
        return nil
    }
}
