public import LatchkeyCore
import LatchkeyFairPlay

/// The reason that a simulated device makes no SPC, or rejects a CKC or a stored key.
///
/// Source: `Documentation/FairPlay.md` §6, §7 and §14.
public struct DeviceError: DiagnosableError, Hashable {
    /// The kinds of error. Names are stable.
    public enum Kind: String, Sendable, CaseIterable {
        // No SPC
        /// The content identifier is empty.
        case contentIdentifierMissing
        /// The content identifier does not have 2 to 200 bytes.
        case contentIdentifierLength
        /// The list of protocol versions is empty.
        case noProtocolVersion
        // A CKC that is rejected
        /// The bytes are not a CKC: a web page, JSON, base64 text, an empty reply, or a truncated CKC.
        case notACKC
        /// The CKC answers another SPC, or was changed in transit.
        case wrongSPC
        /// A block that the device asked for is missing.
        case returnedBlockMissing
        /// A block that the device asked for differs from the sent one.
        case returnedBlockChanged
        /// The content key is missing or has the wrong length.
        case noContentKey
        /// The durations or the display requirement are invalid.
        case badTerms
        /// The terms do not allow the key to be stored.
        case notPersistable
        // A stored key that is rejected
        /// The app stored a CKC instead of the persistable key that the device makes from it.
        case isACKC
        /// The bytes are not a persistable key, or were changed or truncated.
        case damaged
        /// The key belongs to another device.
        case foreign
        /// The key has a format that this device no longer accepts.
        case oldFormat
        /// A newer key replaced it when playback first started.
        case superseded
        /// The key has expired.
        case expired
        // Any of these
        /// libcrypto failed.
        case cryptography
    }

    /// The kind of error.
    public let kind: Kind
    /// The number that an Apple device reports for this error.
    public let systemNumber: Int
    public let reason: String
    public let remedy: String
    public var code: String { kind.rawValue }
}

extension DeviceError {
    /// The operation during which libcrypto failed.
    enum Step: Int {
        case makingSPC = -42676
        case openingCKC = -42668
        case openingStoredKey = -42803
    }

    init(_ error: OpenSSLError, _ step: Step) {
        let remedy = step == .makingSPC ? "Check the installed OpenSSL 3." : error.remedy
        self.init(kind: .cryptography, systemNumber: step.rawValue, reason: error.reason, remedy: remedy)
    }
}

/// No SPC.
extension DeviceError {
    static let contentIdentifierMissing = DeviceError(
        kind: .contentIdentifierMissing, systemNumber: -42673, reason: "The content identifier is empty.",
        remedy: "Give a content identifier of 2 to 200 bytes.")

    static func contentIdentifierLength(_ count: Int) -> DeviceError {
        DeviceError(
            kind: .contentIdentifierLength, systemNumber: -42675, reason: "The content identifier has \(count) bytes.",
            remedy: "Give a content identifier of 2 to 200 bytes.")
    }

    static let noProtocolVersion = DeviceError(
        kind: .noProtocolVersion, systemNumber: -42674, reason: "The list of protocol versions is empty.",
        remedy: "List protocol version 1.")
}

/// A CKC that is rejected.
extension DeviceError {
    private static func ckc(_ kind: Kind, _ reason: String, _ remedy: String) -> DeviceError {
        DeviceError(kind: kind, systemNumber: -42668, reason: reason, remedy: remedy)
    }

    init(_ error: FormatError) {
        self = .ckc(error.kind == .badTerms ? .badTerms : .notACKC, error.reason, error.remedy)
    }

    static func wrongSPC(_ what: String) -> DeviceError {
        ckc(
            .wrongSPC, "The CKC does not answer this SPC: \(what).",
            "Answer each key request with the CKC for its SPC, never with one from a cache.")
    }

    static func returnedBlock(_ tag: TLLVTag, isMissing: Bool) -> DeviceError {
        ckc(
            isMissing ? .returnedBlockMissing : .returnedBlockChanged,
            "The CKC \(isMissing ? "lacks" : "changes") the block \(tag), which the device asked back.",
            "Make the key server return the requested blocks byte for byte, including padding.")
    }

    static func noContentKey(_ what: String) -> DeviceError {
        ckc(
            .noContentKey, "The CKC has no content key: \(what).",
            "Make the key server put the wrapped content key into the CKC.")
    }

    static func notPersistable(_ terms: LicenseTerms) -> DeviceError {
        ckc(
            .notPersistable, "The CKC's terms do not let the key be stored: \(terms.validity).",
            "Make the license service grant a persistent license, through the token's claims or the server's policy.")
    }
}

/// A stored key that is rejected.
extension DeviceError {
    private static func stored(
        _ kind: Kind, _ reason: String, _ remedy: String, number: Int = -42803
    ) -> DeviceError {
        DeviceError(kind: kind, systemNumber: number, reason: reason, remedy: remedy)
    }

    static let isACKC = stored(
        .isACKC, "The stored key is a CKC.",
        "Store the persistable key that the device creates from the CKC, and answer key requests with it.")

    static func damaged(_ what: String) -> DeviceError {
        stored(.damaged, "The stored key is not a persistable key: \(what).", "Delete it and fetch the key again.")
    }

    static let foreign = stored(
        .foreign, "The stored key is another device's.", "Fetch the key again on this device.")

    static func oldFormat(_ version: UInt32) -> DeviceError {
        stored(
            .oldFormat, "The stored key has the form \(version), which the device does not take.",
            "Delete it and fetch the key again.", number: -42799)
    }

    static let superseded = stored(
        .superseded, "The stored key was replaced when playback first started.",
        "Store the updated key that the device delivers, in place of the old one.")

    static func expired(_ key: DeviceKey) -> DeviceError {
        stored(
            .expired, "The stored key's time is over: \(key.terms.validity).",
            "Ask the license service again; it decides about another one.", number: -42800)
    }
}
