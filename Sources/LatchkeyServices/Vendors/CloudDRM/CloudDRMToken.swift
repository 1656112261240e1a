import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyVendorWire

/// A Cloud DRM token: a JWT with the claims of either generation.
///
/// Source: `Documentation/Vendors/CloudDRM.md`, token.
struct CloudDRMToken: Sendable {
    private let claims: JSONValue
    /// The older generation's claims.
    private var older: JSONValue? { claims["drmTokenInfo"] }

    /// - Parameters:
    ///   - text: the token.
    ///   - key: the key that signs tokens; `nil` accepts any signature.
    ///   - date: now.
    init(_ text: String, key: Secret?, date: Date) throws(LicenseRefusal) {
        let token = try JSONWebToken.checked(text, key: key, date: date)
        guard try token.date(of: "exp") != nil else { throw .tokenMalformed("The token has no “exp”.") }
        claims = token.claims
        try checkOlderExpiry(date)
    }

    /// Whether the token covers a key.
    func covers(_ id: KeyID) -> Bool {
        let ids = (older == nil ? claims["kid"] : older?["kid"])?.texts ?? []
        return ids.contains { $0 == "*" || KeyID($0) == id }
    }

    /// The terms that the token grants; `nil` if it states none.
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

    private func checkOlderExpiry(_ date: Date) throws(LicenseRefusal) {
        if let end = older?["p"]?["ed"], Self.isoDate(end) == nil {
            throw .tokenMalformed("The token's “drmTokenInfo.p.ed” is not an ISO 8601 date.")
        }
        guard let value = older?["exp"] else { return }
        guard let inner = Self.isoDate(value) else {
            throw .tokenMalformed("The token's “drmTokenInfo.exp” is not an ISO 8601 date.")
        }
        guard date < inner else { throw .tokenExpired("The token's “drmTokenInfo.exp” has passed.") }
    }

    private static func olderTerms(_ policy: JSONValue?, _ date: Date) -> LicenseTerms? {
        guard policy?["pers"]?.flag == true else { return nil }
        guard let end = policy?["ed"].flatMap(isoDate) else {
            return LicenseTerms(.persistent)
        }
        let left = Duration(clampingSeconds: end.timeIntervalSince(date)) ?? .zero
        return LicenseTerms(.persistentFor(max(.seconds(1), left)))
    }

    private static func isoDate(_ value: JSONValue) -> Date? {
        value.text.flatMap { try? Date($0, strategy: .iso8601) }
    }

    private static func seconds(_ value: JSONValue?) -> Duration? { value?.seconds }
}
