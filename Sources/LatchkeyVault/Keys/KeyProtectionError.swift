import LatchkeyCore
package import LatchkeyFairPlay

/// Why a key could not be made, sealed or opened. Names keys and versions, never bytes of them.
package struct KeyProtectionError: DiagnosableError, Equatable {
    /// The kinds of failure. Names are stable.
    package enum Kind: String, Sendable {
        /// No tenant, a seed that is too short, or a current version that is not there.
        case seedsUnusable
        /// A key was made with a seed that is not configured.
        case seedUnknown
        /// A key encryption key without a name or of another length than 32 bytes.
        case keyEncryptionKeyUnusable
        /// Something is sealed with a key that is not the one at hand.
        case anotherKey
        /// Key, place or bytes are not those of the sealing.
        case doesNotOpen
        /// A data key has sealed as often as it may.
        case dataKeyExhausted
        /// The key source has no key for an address.
        case keyMissing
        /// The library of cryptography failed.
        case cryptography
    }

    /// What kind of failure it is.
    package let kind: Kind
    package let reason: String
    package let remedy: String

    package var code: String { kind.rawValue }

    /// - Parameters:
    ///   - kind: what kind of failure it is.
    ///   - reason: what happened, without secrets.
    ///   - remedy: what to do, one imperative sentence.
    package init(_ kind: Kind, reason: String, remedy: String) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy
    }

    package init(_ error: OpenSSLError) { self.init(.cryptography, reason: error.reason, remedy: error.remedy) }
}
