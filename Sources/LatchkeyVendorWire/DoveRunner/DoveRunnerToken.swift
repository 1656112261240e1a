package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyForms

/// A DoveRunner license token: a JSON object in base64 with an encrypted policy and a hash over the site's access key.
///
/// Source: `Documentation/Vendors/DoveRunner.md`, token and offline; the vendor's License Token Guide, “hash”, read on 2026-11-22.
package struct DoveRunnerToken: Sendable {
    /// The content that the token is for; `nil`, which only the emulator accepts, means any.
    package let contentID: String?
    /// The site.
    package let siteID: String
    /// The viewer.
    package let userID: String
    /// The time at which it was made.
    package let timestamp: Date
    /// The policy; `nil` if it is not readable.
    package let policy: JSONValue?
    /// The policy with the members next to `playback_policy`; `nil` if it is not readable.
    let wholePolicy: JSONValue?

    /// - Parameters:
    ///   - text: the token.
    ///   - key: the site's access key; `nil` accepts any hash.
    ///   - siteKey: decrypts the policy; `nil` reads one that is not encrypted.
    package init(_ text: String, key: Secret?, siteKey: Secret? = nil) throws(LicenseRefusal) {
        guard let bytes = Data(base64Encoded: text), bytes.base64EncodedString() == text, let json = JSONValue(bytes),
            case .object = json
        else {
            throw .tokenMalformed("The token is not a JSON object in base64.")
        }
        siteID = try Self.text("site_id", of: json)
        userID = try Self.text("user_id", of: json)
        let hash = try Self.text("hash", of: json)
        guard try Self.text("drm_type", of: json) == "FairPlay" else {
            throw .doveRunner("7018", "The token's “drm_type” is not FairPlay.")
        }
        guard let date = UTCTimestamp.date(try Self.text("timestamp", of: json)) else {
            throw .tokenMalformed("The token's “timestamp” is not in the form yyyy-MM-ddThh:mm:ssZ.")
        }
        guard let policy = Data(lenientBase64: try Self.text("policy", of: json)) else {
            throw .tokenMalformed("The token's “policy” is not base64.")
        }
        if let key, Secret(Self.hash(of: json, key: key).base64EncodedString()) != Secret(hash) {
            throw LicenseRefusal(
                .tokenSignature, reason: "The token's “hash” is not made with the site's access key.",
                remedy: "Make the hash of the access key and the token's members, in the documented order.")
        }
        // No public page names the fields of the vendor's other format.
        guard ["original", nil].contains(json["response_format"]?.text) else {
            throw .doveRunner("9999", "The emulator answers in no other “response_format” than “original”.")
        }
        timestamp = date
        contentID = json["cid"]?.text
        wholePolicy = try Self.policy(policy, siteKey)
        // In the second version the members are below `playback_policy`.
        self.policy = wholePolicy?["playback_policy"] ?? wholePolicy
    }

    /// The policy's JSON.
    ///
    /// Source: the vendor's License Token Tutorial, read on 2026-11-22: AES-256-CBC with the site key and a fixed IV.
    private static func policy(_ bytes: Data, _ siteKey: Secret?) throws(LicenseRefusal) -> JSONValue? {
        guard let siteKey else { return JSONValue(bytes) }
        let clear = try? AES256CBC.decrypt(Array(bytes), key: siteKey, iv: Array("0123456789abcdef".utf8))
        guard let json = clear.flatMap({ JSONValue($0.revealed) }), case .object = json else {
            throw .tokenMalformed("The token's “policy” is not JSON, encrypted with the site's key.")
        }
        return json
    }

    /// SHA-256 of the access key followed by the token's values.
    package static func hash(of json: JSONValue, key: Secret) -> Data {
        let names = ["drm_type", "site_id", "user_id", "cid", "policy", "timestamp"]
        let text = names.map { json[$0]?.text ?? "" }.joined()
        return key.withUnsafeBytes { key in
            (try? MessageDigest.sha256(Array(key) + Array(text.utf8))).map { Data($0) } ?? Data()
        }
    }

    /// The terms that the policy grants; `nil` if it is not readable or states none.
    package func terms(at date: Date) throws(LicenseRefusal) -> LicenseTerms? {
        guard let policy else { return nil }
        let end = try remaining(policy["expire_date"], date) ?? policy["license_duration"]?.seconds
        guard policy["persistent"]?.flag == true else { return end.map { LicenseTerms(.lease($0)) } }
        if let storage = policy["rental_duration"]?.seconds, let playback = policy["playback_duration"]?.seconds {
            return LicenseTerms(.dualExpiry(storage: storage, playback: playback))
        }
        return LicenseTerms(end.map { .persistentFor($0) } ?? .persistent)
    }

    private func remaining(_ value: JSONValue?, _ date: Date) throws(LicenseRefusal) -> Duration? {
        guard let value else { return nil }
        guard let end = value.text.flatMap(UTCTimestamp.date) else {
            throw .tokenMalformed("The policy's “expire_date” is not in the form yyyy-MM-ddThh:mm:ssZ.")
        }
        let seconds = end.timeIntervalSince(date)
        guard seconds > 0 else { throw .doveRunner("8711", "The policy's “expire_date” has passed.") }
        return Duration(clampingSeconds: seconds)
    }

    private static func text(_ name: String, of json: JSONValue) throws(LicenseRefusal) -> String {
        guard let text = json[name]?.text, !text.isEmpty else { throw .tokenMalformed("The token has no “\(name)”.") }
        return text
    }
}
