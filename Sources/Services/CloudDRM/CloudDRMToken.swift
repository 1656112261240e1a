import Foundation
import LatchkeyCore
import LatchkeyServer

/// A Cloud DRM token: a JWT with the claims of either generation.
///
/// Source: `vendors.md` §2, token.
struct CloudDRMToken: Sendable {
    private let claims: JSONValue
    /// The older generation's claims.
    private var older: JSONValue? { claims["drmTokenInfo"] }

    /// - Parameters:
    ///   - text: the token.
    ///   - key: the key that it has to be signed with; nil takes any signature.
    ///   - date: now.
    init(_ text: String, key: Secret?, date: Date) throws(LicenseRefusal) {
        guard let token = JSONWebToken(text) else { throw .tokenMalformed("The token is not a JWT.") }
        guard token.algorithm == "HS256" else {
            throw .tokenMalformed("The token's algorithm is “\(token.algorithm.prefix(20))” and not HS256.")
        }
        if let key, !token.isSigned(with: key) {
            throw LicenseRefusal(
                .tokenSignature, reason: "The token is not signed with the tenant's key.",
                remedy: "Sign it with the base64-decoded signing key of the tenant.")
        }
        claims = token.claims
        try checkExpiry(date)
    }

    /// Whether the token is for a key.
    func covers(_ id: KeyID) -> Bool {
        let ids = (older == nil ? claims["kid"] : older?["kid"])?.texts ?? []
        return ids.contains { $0 == "*" || KeyID($0) == id }
    }

    /// The terms that the token grants; nil where it says nothing.
    func terms(at date: Date) -> LicenseTerms? {
        if let older { return Self.olderTerms(older["p"], date) }
        let fairPlay = claims["fairplay"]
        guard claims["persistent"]?.flag == true || fairPlay?["persistent"]?.flag == true else {
            return Self.seconds(claims["duration"]).map { LicenseTerms(.lease($0)) }
        }
        let storage = Self.seconds(fairPlay?["storage_duration"] ?? fairPlay?["offline_storage_duration"])
        guard let playback = Self.seconds(fairPlay?["playback_duration"]) else {
            return LicenseTerms((storage ?? Self.seconds(claims["duration"])).map { .persistentFor($0) } ?? .persistent)
        }
        return LicenseTerms(.dualExpiry(storage: storage ?? playback, playback: playback))
    }

    private func checkExpiry(_ date: Date) throws(LicenseRefusal) {
        guard let expiry = claims["exp"]?.number else { throw .tokenMalformed("The token has no “exp”.") }
        guard date.timeIntervalSince1970 < expiry else { throw .tokenExpired("The token's “exp” is over.") }
        guard let text = older?["exp"]?.text else { return }
        guard let inner = try? Date(text, strategy: .iso8601) else {
            throw .tokenMalformed("The token's “drmTokenInfo.exp” is not an ISO 8601 date.")
        }
        guard date < inner else { throw .tokenExpired("The token's “drmTokenInfo.exp” is over.") }
    }

    private static func olderTerms(_ policy: JSONValue?, _ date: Date) -> LicenseTerms? {
        guard policy?["pers"]?.flag == true else { return nil }
        guard let end = policy?["ed"]?.text.flatMap({ try? Date($0, strategy: .iso8601) }) else {
            return LicenseTerms(.persistent)
        }
        return LicenseTerms(.persistentFor(.seconds(max(1, end.timeIntervalSince(date)))))
    }

    private static func seconds(_ value: JSONValue?) -> Duration? {
        value?.number.flatMap { $0 > 0 && $0 < 1e12 ? .seconds($0) : nil }
    }
}
