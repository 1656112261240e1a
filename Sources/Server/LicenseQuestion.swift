public import Foundation
public import LatchkeyCore
public import LatchkeyFairPlay

/// What a license request comes down to once a vendor's envelope is undone.
public struct LicenseQuestion: Sendable {
    /// The SPC's own bytes.
    public var spc: Data
    /// What the request names the key by; nil where only the SPC names it.
    public var keyName: String?
    /// What a content identifier names the key by; nil where the vendor does not care what the SPC says.
    ///
    /// Where both the request and the SPC name a key, they have to name the same one.
    public var nameInSPC: @Sendable (ContentIdentifier) -> String?
    /// The terms that the credentials grant; nil where they say nothing and the policy decides.
    public var terms: LicenseTerms?
    /// What the credentials have against licensing a key for a content identifier; nil where they cover it.
    ///
    /// For vendors whose requests name the key in the SPC alone, so that it is known only once the SPC is open.
    public var objection: @Sendable (StoredKey, ContentIdentifier) -> LicenseRefusal? = { _, _ in nil }

    /// - Parameters:
    ///   - spc: the SPC's own bytes.
    ///   - keyName: what the request names the key by.
    ///   - terms: the terms that the credentials grant.
    ///   - nameInSPC: what a content identifier names the key by.
    public init(
        spc: Data, keyName: String?, terms: LicenseTerms? = nil,
        nameInSPC: @escaping @Sendable (ContentIdentifier) -> String? = { $0.text }
    ) {
        self.spc = spc
        self.keyName = keyName
        self.terms = terms
        self.nameInSPC = nameInSPC
    }
}

/// A license that was granted.
public struct IssuedLicense: Sendable {
    /// The CKC, which answers the question's SPC and no other.
    public let ckc: Secret
    /// The key that is in it.
    public let key: StoredKey
    /// The terms that are in it.
    public let terms: LicenseTerms
    /// The device's number of the exchange, for logs.
    public let transactionID: TransactionID
    /// What the player does, as the device says it; nil where it does not say.
    public let playback: MediaPlayback?
}
