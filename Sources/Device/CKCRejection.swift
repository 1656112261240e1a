public import LatchkeyCore
import LatchkeyFairPlay

/// Why a device does not take a CKC.
///
/// Source: `fps-protocol.md` §6, §7 and §14.
public struct CKCRejection: DiagnosableError, Equatable {
    /// The kinds of rejection. Names are stable.
    public enum Kind: String, Sendable, CaseIterable {
        /// Bytes that are something else: a web page, JSON, base64 text, nothing, or a CKC cut short.
        case notACKC
        /// A CKC that answers another SPC, or was changed on its way.
        case wrongSPC
        /// A block that the device asked back is missing.
        case returnedBlockMissing
        /// A block that the device asked back is not as it was sent.
        case returnedBlockChanged
        /// There is no content key, or one of an odd length.
        case noContentKey
        /// Durations or a display requirement that make no sense.
        case badTerms
        /// A key that is to be stored, on terms that do not allow it.
        case notPersistable
        /// libcrypto could not work.
        case cryptography
    }

    /// What kind of rejection it is.
    public let kind: Kind
    public let reason: String
    public let remedy: String
    public var code: String { kind.rawValue }

    /// The number that an Apple device reports for a CKC that it does not take.
    public var systemNumber: Int { -42668 }
}

extension CKCRejection {
    init(_ error: CKCFormatError) {
        self.init(kind: .notACKC, reason: error.reason, remedy: error.remedy)
    }

    init(_ error: OpenSSLError) {
        self.init(kind: .cryptography, reason: error.reason, remedy: error.remedy)
    }

    static func wrongSPC(_ what: String) -> CKCRejection {
        CKCRejection(
            kind: .wrongSPC, reason: "The CKC does not answer this SPC: \(what).",
            remedy: "Give each key request the CKC of its own SPC, and never one from a cache.")
    }

    static func returnedBlock(_ tag: TLLVTag, isMissing: Bool) -> CKCRejection {
        CKCRejection(
            kind: isMissing ? .returnedBlockMissing : .returnedBlockChanged,
            reason: "The CKC \(isMissing ? "lacks" : "changes") the block \(tag), which the device asked back.",
            remedy: "Have the key server return the requested blocks byte for byte, padding included.")
    }

    static func noContentKey(_ what: String) -> CKCRejection {
        CKCRejection(
            kind: .noContentKey, reason: "The CKC has no content key: \(what).",
            remedy: "Have the key server put the wrapped content key into the CKC.")
    }

    static func badTerms(_ what: String) -> CKCRejection {
        CKCRejection(
            kind: .badTerms, reason: "The CKC's terms make no sense: \(what).",
            remedy: "Check the durations and the display requirement that the key server was given.")
    }

    static func notPersistable(_ terms: LicenseTerms) -> CKCRejection {
        CKCRejection(
            kind: .notPersistable, reason: "The CKC's terms do not let the key be stored: \(terms.validity).",
            remedy: "Have the license service grant a persistent license, by the token's claims or the server's policy."
        )
    }
}
