public import LatchkeyCore
import LatchkeyFairPlay

/// Why a device does not take a persistable key that an app stored.
///
/// Source: `fps-protocol.md` §14.
public struct PersistableKeyRejection: DiagnosableError, Equatable {
    /// The kinds of rejection. Names are stable.
    public enum Kind: String, Sendable, CaseIterable {
        /// A CKC, which was stored in place of the persistable key that the device makes of it.
        case isACKC
        /// Bytes that are something else, or were changed or cut short.
        case damaged
        /// Another device's.
        case foreign
        /// In a form that this device no longer takes.
        case oldFormat
        /// Replaced by a newer one when playback first started.
        case superseded
        /// Its time is over.
        case expired
        /// libcrypto could not work.
        case cryptography
    }

    /// What kind of rejection it is.
    public let kind: Kind
    public let reason: String
    public let remedy: String
    public var code: String { kind.rawValue }

    /// The number that an Apple device reports in this case.
    public var systemNumber: Int {
        switch kind {
        case .oldFormat: -42799
        case .expired: -42800
        case .isACKC, .damaged, .foreign, .superseded, .cryptography: -42803
        }
    }
}

extension PersistableKeyRejection {
    init(_ error: OpenSSLError) {
        self.init(kind: .cryptography, reason: error.reason, remedy: error.remedy)
    }

    static let isACKC = PersistableKeyRejection(
        kind: .isACKC, reason: "The stored key is a CKC.",
        remedy: "Store what the device makes of the CKC, and answer key requests with that.")

    static func damaged(_ what: String) -> PersistableKeyRejection {
        PersistableKeyRejection(
            kind: .damaged, reason: "The stored key is no persistable key: \(what).",
            remedy: "Delete it and fetch the key again.")
    }

    static let foreign = PersistableKeyRejection(
        kind: .foreign, reason: "The stored key is another device's.", remedy: "Fetch the key again on this device.")

    static func oldFormat(_ version: UInt32) -> PersistableKeyRejection {
        PersistableKeyRejection(
            kind: .oldFormat, reason: "The stored key has the form \(version), which the device does not take.",
            remedy: "Delete it and fetch the key again.")
    }

    static let superseded = PersistableKeyRejection(
        kind: .superseded, reason: "The stored key was replaced when playback first started.",
        remedy: "Store the updated key that the device delivers, in place of the old one.")

    static func expired(_ key: DeviceKey) -> PersistableKeyRejection {
        PersistableKeyRejection(
            kind: .expired, reason: "The stored key's time is over: \(key.terms.validity).",
            remedy: "Ask the license service again; it decides about another one.")
    }
}
