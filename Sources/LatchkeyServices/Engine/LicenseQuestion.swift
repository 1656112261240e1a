public import Foundation
public import LatchkeyCore
public import LatchkeyDecision
public import LatchkeyFairPlay
package import LatchkeyMedia

/// A license request without its vendor's envelope.
public struct LicenseQuestion: Sendable {
    /// The SPC.
    public var spc: Data
    /// Which key the license is for.
    public var key: RequestedKey
    /// The terms that the credentials grant; `nil` if they grant none and the policy decides.
    public var terms: LicenseTerms?
    /// Why the credentials do not cover a key, given the SPC's content identifier; `nil` if they do.
    ///
    /// For vendors whose requests name the key in the SPC alone: the server knows the key only after it has opened the SPC.
    public var objection: @Sendable (StoredKey, ContentIdentifier) -> LicenseRefusal?

    /// - Parameters:
    ///   - spc: the SPC.
    ///   - key: which key the license is for.
    ///   - terms: the terms that the credentials grant. Defaults to those of the policy.
    ///   - objection: why the credentials do not cover a key. Defaults to none.
    public init(
        spc: Data, key: RequestedKey, terms: LicenseTerms? = nil,
        objection: @escaping @Sendable (StoredKey, ContentIdentifier) -> LicenseRefusal? = { _, _ in nil }
    ) {
        self.spc = spc
        self.key = key
        self.terms = terms
        self.objection = objection
    }
}

/// Which key a license is for: the request names it, the SPC's content identifier does, or both.
///
/// If both name a key, they have to name the same one.
public struct RequestedKey: Sendable {
    /// What the request names the key by; `nil` if only the SPC names it.
    let name: String?
    /// What a content identifier names the key by; `nil` if it names none.
    let nameInSPC: @Sendable (ContentIdentifier, ContentKeyStore) -> String?

    /// The SPC names the key by any part of a key URI: the whole, the text after the scheme, the last path component or the host.
    public static let namedInSPC = RequestedKey(name: nil) { identifier, keys in keys.name(in: identifier) }

    /// The SPC names the key.
    /// - Parameter rule: what a content identifier names the key by; `nil` means the identifier itself.
    public static func namedInSPC(_ rule: @escaping @Sendable (ContentIdentifier) -> String?) -> RequestedKey {
        RequestedKey(name: nil) { identifier, _ in rule(identifier) }
    }

    /// The request names the key.
    /// - Parameters:
    ///   - name: the name.
    ///   - rule: what the SPC's content identifier names the key by; `nil` if it may say anything. Defaults to its text.
    public static func named(
        _ name: String, inSPC rule: @escaping @Sendable (ContentIdentifier) -> String? = { $0.text }
    ) -> RequestedKey {
        RequestedKey(name: name) { identifier, _ in rule(identifier) }
    }
}

/// A granted license.
public struct IssuedLicense: Sendable {
    /// The CKC, which answers the question's SPC and no other.
    public let ckc: Secret
    /// The key in the CKC.
    public let key: StoredKey
    /// The terms in the CKC.
    public let terms: LicenseTerms
    /// The device's number of the exchange, for logs.
    public let transactionID: TransactionID
    /// The device's identifier (HU), 20 bytes, by which services bind licenses to devices.
    public let deviceIdentifier: Secret
    /// The state of playback as the device reports it; `nil` if it reports none.
    public let playback: MediaPlayback?
}
