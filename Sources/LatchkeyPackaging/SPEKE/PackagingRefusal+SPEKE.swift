package import LatchkeyCore

extension PackagingRefusal {
    /// Why an encryptor gets no keys, by SPEKE.
    init(_ reason: String, status: Int = 422, remedy: String = "Send the document as SPEKE describes it.") {
        self.init(code: "speke\(status)", reason, status: status, remedy: remedy)
    }
}

/// The texts that SPEKE prescribes.
extension PackagingRefusal {
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

/// Texts of this project, for cases without a SPEKE text.
extension PackagingRefusal {
    static let noDocument = Self("The document is not CPIX")
    static let missingID = Self("Missing CPIX@id")
    static let missingHeader = Self(
        "Missing CPIX@id. A document with CPIX@contentId is a SPEKE 2 document, which needs the header X-Speke-Version",
        remedy: "Send X-Speke-Version: 2.0 with CPIX 2.3, or 2.1 with CPIX 2.4.")
    static let contentIDTooLong = Self("CPIX@contentId is longer than 256 bytes")
    static let missingKeys = Self("Missing ContentKey")
    static let missingSystems = Self("Missing DRMSystem")
    static let tooManyKeys = Self(
        "Too many ContentKey or DRMSystem elements", status: 413, remedy: "Request fewer keys at a time.")
    static let periods = Self("Malformed ContentKeyPeriodList")
    static let playlist = Self("Unsupported HLSSignalingData@playlist")
    static let keysUnavailable = Self(
        "The key provider cannot supply the keys now", status: 503, remedy: "Try again shortly; see the provider's log."
    )

    static func kid(_ element: String) -> Self { Self("\(element)@kid is missing or not a UUID") }
    static func doubleKey(_ kid: KeyID) -> Self { Self("Two ContentKey elements for KID \(kid)") }
    static func doubleSystem(_ kid: KeyID) -> Self {
        Self("Two DRMSystem elements with the same systemId for KID \(kid)")
    }
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
