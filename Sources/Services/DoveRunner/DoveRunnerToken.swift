import Foundation
import LatchkeyCore
import LatchkeyServer

/// A DoveRunner license token: a JSON object in base64, its policy encrypted and its hash known to the vendor alone.
///
/// Source: `vendors.md` §13, token and offline.
struct DoveRunnerToken: Sendable {
    /// The content that the token is for; nil, which only the emulator takes, is any.
    let contentID: String?
    /// The site.
    let siteID: String
    /// When it was made.
    let timestamp: Date
    /// The policy, where it is readable.
    let policy: JSONValue?

    init(_ text: String) throws(LicenseRefusal) {
        guard let json = Data(lenientBase64: text).flatMap({ JSONValue($0) }), case .object = json else {
            throw .tokenMalformed("The token is not a JSON object in base64.")
        }
        siteID = try Self.text("site_id", of: json)
        _ = try Self.text("user_id", of: json)
        _ = try Self.text("hash", of: json)
        guard try Self.text("drm_type", of: json) == "FairPlay" else {
            throw .doveRunner("7018", "The token's “drm_type” is not FairPlay.")
        }
        guard let date = UTCTimestamp.date(try Self.text("timestamp", of: json)) else {
            throw .tokenMalformed("The token's “timestamp” is not in the form yyyy-MM-ddThh:mm:ssZ.")
        }
        guard let policy = Data(lenientBase64: try Self.text("policy", of: json)) else {
            throw .tokenMalformed("The token's “policy” is not base64.")
        }
        // The vendor's other format has fields that no public page names.
        guard ["original", nil].contains(json["response_format"]?.text) else {
            throw .doveRunner("9999", "The emulator answers in no other “response_format” than “original”.")
        }
        timestamp = date
        contentID = json["cid"]?.text
        self.policy = JSONValue(policy)
    }

    /// The terms that the policy grants; nil where it is not readable or says nothing.
    func terms(at date: Date) throws(LicenseRefusal) -> LicenseTerms? {
        guard let policy else { return nil }
        let end = try remaining(policy["expire_date"], date) ?? policy["license_duration"]?.seconds
        guard policy["persistent"]?.flag == true else { return end.map { LicenseTerms(.lease($0)) } }
        if let storage = policy["rental_duration"]?.seconds, let playback = policy["playback_duration"]?.seconds {
            return LicenseTerms(.dualExpiry(storage: storage, playback: playback))
        }
        return LicenseTerms(end.map { .persistentFor($0) } ?? .persistent)
    }

    private func remaining(_ value: JSONValue?, _ date: Date) throws(LicenseRefusal) -> Duration? {
        guard let text = value?.text else { return nil }
        guard let end = UTCTimestamp.date(text) else {
            throw .tokenMalformed("The policy's “expire_date” is not in the form yyyy-MM-ddThh:mm:ssZ.")
        }
        let seconds = end.timeIntervalSince(date)
        guard seconds > 0 else { throw .doveRunner("8711", "The policy's “expire_date” is over.") }
        return .seconds(seconds)
    }

    private static func text(_ name: String, of json: JSONValue) throws(LicenseRefusal) -> String {
        guard let text = json[name]?.text, !text.isEmpty else { throw .tokenMalformed("The token has no “\(name)”.") }
        return text
    }
}
