public import LatchkeyCore

/// The reason that a key server refuses an SPC.
///
/// Source: `Documentation/FairPlay.md` §9.
public struct KSMRefusal: DiagnosableError, Equatable {
    /// The kinds of refusal. Names are stable.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A container version without a parser.
        case unsupportedVersion
        /// A container with inconsistent lengths.
        case malformedContainer
        /// An SPC for a certificate that the server does not hold.
        case unknownCertificate
        /// A payload key that the private key does not decrypt. All causes are reported alike.
        case rsaDecryptFailed
        /// A private key that is unavailable, for example because its token does not respond. The same SPC may succeed later.
        case keyUnavailable
        /// A payload that is not a sequence of blocks.
        case malformedTLLV
        /// A known block whose value has the wrong length.
        case badLength
        /// A tag that occurs twice, or a requested tag whose block the CKC fills itself.
        case duplicateTag
        /// A required block that is missing.
        case missingTag
        /// A block that the device asks for but did not send.
        case returnTagMissing
        /// A protocol version that the server does not support or the device does not list.
        case protocolVersion
        /// Session bytes that fail the integrity check, a derivation that failed, or a cipher that failed.
        case integrity
    }

    /// The kind of refusal.
    public let kind: Kind
    public let reason: String
    public let remedy: String

    public var code: String { kind.rawValue }

    /// The number that operators see for this refusal in vendors' logs; `nil` if unknown.
    public var operatorNumber: Int? {
        switch kind {
        case .unsupportedVersion: -42580
        case .unknownCertificate, .rsaDecryptFailed: -42605
        default: nil
        }
    }

    /// - Parameters:
    ///   - kind: the kind of refusal.
    ///   - reason: what happened and where, without secrets.
    ///   - remedy: what to do, one imperative sentence. By default, to check the SPC.
    public init(_ kind: Kind, reason: String, remedy: String? = nil) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy ?? "Check that the SPC arrived unchanged and comes from a device."
    }
}

extension KSMRefusal {
    static func unsupportedVersion(_ version: UInt32, _ bytes: [UInt8]) -> KSMRefusal {
        if let apparentFormat = FormatGuess(of: bytes) {
            return KSMRefusal(
                .unsupportedVersion,
                reason: "The SPC looks like \(apparentFormat.rawValue) (read as version \(version)).",
                remedy: "Send the SPC's own bytes, as the device made them.")
        }
        return KSMRefusal(
            .unsupportedVersion, reason: "The SPC has container version \(version).",
            remedy: "Plug in an opener for this version, or give the app the 1024-bit certificate.")
    }

    package static func malformedContainer(_ what: String) -> KSMRefusal {
        KSMRefusal(
            .malformedContainer, reason: "The SPC's container is broken: \(what).",
            remedy: "Check that the whole SPC arrived and that its base64 or form encoding was undone once.")
    }

    package static func unknownCertificate(_ hash: String) -> KSMRefusal {
        KSMRefusal(
            .unknownCertificate, reason: "The SPC was made for the certificate with SHA-1 \(hash).",
            remedy: "Give the app one of this server's certificates, or this server that certificate's credentials.")
    }

    package static let rsaDecryptFailed = KSMRefusal(
        .rsaDecryptFailed, reason: "The SPC's payload key does not open with the certificate's private key.",
        remedy: "Check that the SPC arrived unchanged.")

    package static func keyUnavailable(_ error: any Error) -> KSMRefusal {
        let known = error as? any DiagnosableError
        return KSMRefusal(
            .keyUnavailable, reason: "The private key cannot be used now: \(known?.reason ?? "\(type(of: error))")",
            remedy: known?.remedy ?? "Check where the private key is kept.")
    }

    static func blocks(_ error: FormatError) -> KSMRefusal {
        KSMRefusal(
            error.kind == .duplicate ? .duplicateTag : .malformedTLLV, reason: error.reason)
    }

    static func badLength(_ block: TLLVBlock, _ expected: String) -> KSMRefusal {
        KSMRefusal(
            .badLength, reason: "Block \(block.tag) has a value of \(block.valueLength) bytes instead of \(expected).",
            remedy: block.tag == .assetID ? "Have the app give a content identifier of 2 to 200 bytes." : nil)
    }

    static func missingTag(_ tag: TLLVTag) -> KSMRefusal {
        KSMRefusal(
            .missingTag, reason: "Block \(tag) is missing.")
    }

    static func returnTagMissing(_ tag: TLLVTag) -> KSMRefusal {
        KSMRefusal(
            .returnTagMissing, reason: "The device asks block \(tag) back, which its SPC does not have.")
    }

    static func returnsOwnTag(_ tag: TLLVTag) -> KSMRefusal {
        KSMRefusal(
            .duplicateTag, reason: "The device asks for block \(tag) back, which a CKC fills with a different value.")
    }

    static func protocolVersion(_ used: UInt32, supported: [UInt32]) -> KSMRefusal {
        KSMRefusal(
            .protocolVersion, reason: "The device used protocol version \(used) and lists \(supported).",
            remedy: "Have the app make the SPC with protocol versions [1].")
    }

    static let integrityDiffers = KSMRefusal(
        .integrity, reason: "The decrypted session bytes differ from the ones sealed by the device.",
        remedy: "Check the application secret key and the derivation, and that both belong to this certificate.")

    static func derivation(_ error: any Error) -> KSMRefusal {
        let reason = (error as? any DiagnosableError)?.reason ?? "\(type(of: error))"
        let remedy = (error as? any DiagnosableError)?.remedy ?? "Ask the author of the derivation."
        return KSMRefusal(.integrity, reason: "The derivation gave no key: \(reason)", remedy: remedy)
    }

    static func cipher(_ error: OpenSSLError) -> KSMRefusal {
        KSMRefusal(.integrity, reason: error.reason, remedy: error.remedy)
    }
}
