package import LatchkeyCore
package import LatchkeyDecision

/// A key as a license needs it: open, with the facts for the decision.
package struct VaultKey: Sendable {
    /// Key and IV.
    package let content: ContentKey
    /// The kid, the content, the class of its tracks, and its policies.
    package private(set) var facts: KeyFacts
    /// How media is encrypted; `nil` if unknown.
    package let scheme: EncryptionScheme?
    var isDisabled: Bool

    init(_ row: KeyRow, _ content: ContentKey) {
        self.content = content
        var facts = KeyFacts()
        facts.id = row.kid
        facts.content = row.content.written
        facts.track = row.track
        facts.policies = row.policies
        facts.origin = row.isCopied ? .copy : .store
        self.facts = facts
        scheme = row.scheme
        isDisabled = row.isDisabled
    }

    /// The key as served from memory.
    /// - Parameter isStale: whether the store does not answer, so that the key may be outdated.
    func remembered(isStale: Bool) -> VaultKey {
        var key = self
        if facts.origin != .copy || !isStale { key.facts.origin = isStale ? .stale : .memory }
        return key
    }

    /// A key without a row in the store.
    /// - Parameter track: the class of its tracks, as far as its kid reveals it.
    init(derived content: ContentKey, at address: KeyAddress, track: TrackClass) {
        self.content = content
        var facts = KeyFacts()
        facts.id = address.kid
        facts.content = address.content.written
        facts.track = track
        facts.origin = .unlisted
        self.facts = facts
        scheme = nil
        isDisabled = false
    }
}

extension ContentName {
    /// The name as policies and tokens write it: the text, or hexadecimal digits if the bytes are not text.
    package var written: String { text ?? bytes.hexString }
}
