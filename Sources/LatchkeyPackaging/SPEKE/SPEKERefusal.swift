package import LatchkeyCore

/// Why an encryptor gets no keys. It is an answer: a status and a text.
///
/// Source: `Documentation/LicenseServer.md` §2.2.
package struct SPEKERefusal: DiagnosableError, Equatable {
    /// The status: 422 for what is SPEKE or CPIX, 400 for XML, 413 for too much, 503 for a source of keys that fails.
    package let status: Int
    /// What happened; the body of the reply.
    package let reason: String
    package let remedy: String
    /// Why the source of the keys failed, for logs; the reply does not say it.
    package private(set) var cause: String?

    package var code: String { "speke\(status)" }

    init(_ reason: String, status: Int = 422, remedy: String = "Send the document as SPEKE describes it.") {
        self.status = status
        self.reason = reason
        self.remedy = remedy
    }

    init(_ error: XMLTreeError) {
        let status =
            switch error.kind {
            case .tooManyBytes, .tooDeep, .tooManyElements, .attributeTooLong: 413
            case .documentType, .encoding, .malformed: 400
            }
        self.init(error.reason, status: status, remedy: error.remedy)
    }
}

/// The texts that SPEKE prescribes.
extension SPEKERefusal {
    static let missingContentID = Self("Missing CPIX@contentId")
    static let missingVersion = Self("Missing CPIX@version")
    static let documentVersion = Self("Unsupported CPIX@version")
    static let version = Self("Unsupported SPEKE version")
    static let schemes = Self("Non compliant ContentKey@commonEncryptionScheme combination")
    static let contractMalformed = Self("Malformed encryption contract")
    static let contractNotSupported = Self("Requested CPIX encryption contract not supported")
    static let contractMissing = Self("Missing CPIX encryption contract")

    static func schemeMissing(_ kid: String) -> Self {
        Self("Missing ContentKey@commonEncryptionScheme for KID \(kid)")
    }

    static func scheme(_ systemID: String) -> Self {
        Self("ContentKey@commonEncryptionScheme non compatible with DRMSystem \(systemID)")
    }
}

/// Texts of this project, for what SPEKE has no text for.
extension SPEKERefusal {
    static let noDocument = Self("The document is not CPIX")
    static let missingID = Self("Missing CPIX@id")
    static let missingHeader = Self(
        "Missing CPIX@id. A document with CPIX@contentId is one of SPEKE 2, which needs the header X-Speke-Version",
        remedy: "Send X-Speke-Version: 2.0 with CPIX 2.3, or 2.1 with CPIX 2.4.")
    static let contentIDTooLong = Self("CPIX@contentId is longer than 256 bytes")
    static let missingKeys = Self("Missing ContentKey")
    static let missingSystems = Self("Missing DRMSystem")
    static let tooManyKeys = Self(
        "Too many elements ContentKey or DRMSystem", status: 413, remedy: "Ask for fewer keys at once.")
    static let periods = Self("Malformed ContentKeyPeriodList")
    static let playlist = Self("Unsupported HLSSignalingData@playlist")
    static let keysUnavailable = Self(
        "The key provider cannot give the keys now", status: 503, remedy: "Try again shortly; see the provider's log.")

    /// The same, with what the log says.
    static func keysUnavailable(because error: any Error) -> Self {
        var refusal = keysUnavailable
        refusal.cause = (error as? any DiagnosableError)?.reason
        return refusal
    }

    static func kid(_ element: String) -> Self { Self("\(element)@kid is missing or not a UUID") }
    static func doubleKey(_ kid: KeyID) -> Self { Self("Two elements ContentKey for KID \(kid)") }
    static func doubleSystem(_ kid: KeyID) -> Self { Self("Two elements DRMSystem of one systemId for KID \(kid)") }
    package static func unknownKey(_ kid: KeyID) -> Self { Self("DRMSystem@kid \(kid) is not in the ContentKeyList") }
    static func explicitIV(_ kid: KeyID) -> Self { Self("ContentKey@explicitIV is not 16 bytes for KID \(kid)") }
    static func zeroIV(_ kid: KeyID) -> Self {
        Self(
            "ContentKey@explicitIV is 16 zeros for KID \(kid), which counts as not stated",
            remedy: "State the IV that the media is encrypted with, or leave it to the key provider.")
    }
    static let systemID = Self("DRMSystem@systemId is missing or not a UUID")
    static func system(_ id: KeyID) -> Self { Self("Unsupported DRMSystem \(id)") }
}
