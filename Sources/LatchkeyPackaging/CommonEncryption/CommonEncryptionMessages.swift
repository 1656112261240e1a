import Foundation
import LatchkeyForms

/// A packager's message: the request's JSON, and its signer.
struct CommonEncryptionEnvelope {
    let request: Data
    let signature: Data?
    let signer: String?

    /// - Returns: `nil` unless `request` is base64. A signature that is not base64 counts as absent.
    init?(_ json: JSONValue) {
        guard let request = json["request"]?.text.flatMap({ Data(base64Encoded: $0) }) else { return nil }
        self.request = request
        signature = json["signature"]?.text.flatMap { Data(base64Encoded: $0) }
        signer = json["signer"]?.text
    }
}

/// The request inside the envelope. Other members are ignored.
struct CommonEncryptionRequest {
    let contentID: String
    let tracks: [String]
    let systems: [String]?
    let scheme: String?
    let firstPeriod: UInt32?
    let periodCount: UInt32?

    /// - Returns: `nil` for a member of an unexpected form, or if content or tracks are missing.
    init?(_ json: JSONValue) {
        guard let contentID = json["content_id"]?.text, case .array(let tracks)? = json["tracks"] else { return nil }
        self.contentID = contentID
        self.tracks = tracks.compactMap { $0["type"]?.text }
        guard self.tracks.count == tracks.count else { return nil }
        guard let systems = json.member("drm_types", \.texts), let scheme = json.member("protection_scheme", \.text),
            let firstPeriod = json.member("first_crypto_period_index", \.index),
            let periodCount = json.member("crypto_period_count", \.index)
        else { return nil }
        (self.systems, self.scheme, self.firstPeriod, self.periodCount) = (systems, scheme, firstPeriod, periodCount)
    }
}

extension JSONValue {
    /// An optional member: `.some(nil)` if it is missing or `null`, `nil` if it has an unexpected form.
    fileprivate func member<Value>(_ name: String, _ read: (JSONValue) -> Value?) -> Value?? {
        guard let value = self[name], value != .null else { return .some(nil) }
        return read(value).map { .some($0) }
    }

    fileprivate var texts: [String]? {
        guard case .array(let values) = self else { return nil }
        let texts = values.compactMap(\.text)
        return texts.count == values.count ? texts : nil
    }

    /// A whole number of 32 bits.
    fileprivate var index: UInt32? {
        guard case .number(let number) = self else { return nil }
        return UInt32(exactly: number)
    }
}
