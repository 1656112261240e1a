import LatchkeyCore
import LatchkeyFairPlay

/// Why a CPIX document is not imported or not made. Never says what a key is.
package struct CPIXRefusal: DiagnosableError, Equatable {
    /// The status: 400 for XML, 413 for too much, 422 for what is CPIX, 503 if libcrypto fails.
    package let status: Int
    /// Where it is, such as `ContentKey 3`; empty for the whole document.
    package let place: String
    package let code: String
    package let reason: String
    package let remedy: String

    init(_ code: String, at place: String = "", _ what: String, status: Int = 422, remedy: String) {
        self.code = "cpix\(code)"
        self.place = place
        self.status = status
        reason = place.isEmpty ? what : "\(place): \(what)"
        self.remedy = remedy
    }

    init(_ error: XMLTreeError) {
        let refusal = SPEKERefusal(error)
        self.init("XML", refusal.reason, status: refusal.status, remedy: refusal.remedy)
    }

    init(_ error: OpenSSLError) { self.init("Cryptography", error.reason, status: 503, remedy: error.remedy) }
}

extension CPIXRefusal {
    static let noDocument = Self("Root", "The document is not CPIX.", remedy: "Send a CPIX document.")
    static let version = Self(
        "Version", at: "CPIX@version", "The version is not 2.3, 2.3.1 or 2.4.", remedy: "Send one of these versions.")
    static let noKeys = Self(
        "Keys", at: "ContentKeyList", "There is no key that encrypts media.", remedy: "Send the keys of the content.")
    static let tooManyKeys = Self(
        "TooMany", at: "ContentKeyList", "There are more than \(CPIXDocument.keyLimit) keys.", status: 413,
        remedy: "Send fewer keys in one document.")
    static let periods = Self(
        "Periods", at: "ContentKeyPeriodList", "A period has no id, no whole number as index, or another's id.",
        remedy: "Give each period an id of its own.")

    static func kid(_ place: String) -> Self {
        Self("KID", at: place, "The kid is missing or not a UUID.", remedy: "Write the kid as a UUID.")
    }
    static func twice(_ place: String) -> Self {
        Self("KID", at: place, "Another key has the same kid.", remedy: "Send each key once.")
    }
    static func content(_ place: String) -> Self {
        Self(
            "Content", at: place, "Nothing says which content it is, or the name is longer than 256 bytes.",
            remedy: "Set contentId, or ask with ?content=NAME.")
    }
    static func longContent(_ place: String, _ objection: Diagnosis) -> Self {
        Self("Content", at: place, "\(objection.reason).", remedy: objection.remedy)
    }
    static func value(_ place: String) -> Self {
        Self("Value", at: place, "There is no key of 16 bytes.", remedy: "Send the key as base64 of 16 bytes.")
    }
    static func iv(_ place: String) -> Self {
        Self("IV", at: place, "The explicitIV is not 16 bytes.", remedy: "Send the IV as base64 of 16 bytes.")
    }
    /// Keys whose IV nobody stated.
    static func ivMissing(_ kids: [KeyID]) -> Self {
        let names = kids.map { "\($0)" }.joined(separator: ", ")
        return Self(
            "IV", at: "ContentKey@explicitIV",
            "It is missing or 16 zeros, and FairPlay's license has to carry it, for \(names).",
            remedy: "Send the IV that the media is encrypted with, as base64 of 16 bytes.")
    }
    static func scheme(_ place: String) -> Self {
        Self(
            "Scheme", at: place, "The commonEncryptionScheme is none of cenc, cens, cbc1 and cbcs.",
            remedy: "Send one of these, or none for any.")
    }
    static func root(_ place: String) -> Self {
        Self(
            "Hierarchy", at: place, "The key that it depends on is not in the document, or depends on another.",
            remedy: "Send the root key, too.")
    }
    static func rule(_ place: String) -> Self {
        Self(
            "Rules", at: place, "Its key encrypts no media, its period is unknown, or a filter is no range.",
            remedy: "Correct the usage rule.")
    }
    static func noRecipient(_ place: String) -> Self {
        Self(
            "Recipient", at: place, "The keys are encrypted to none of this server's certificates.",
            remedy: "Encrypt them to a certificate of this server.")
    }
    /// - Parameters:
    ///   - found: the algorithm that is written; `nil` for none.
    ///   - wanted: the one that CPIX prescribes there.
    static func algorithm(_ place: String, _ found: String?, _ wanted: String) -> Self {
        let shown = found.map { "The algorithm is \(String($0.prefix(100)).onOneLine)." } ?? "It names no algorithm."
        return Self("Algorithm", at: place, shown, remedy: "Use \(wanted).")
    }
    static func valueMissing(_ place: String) -> Self {
        Self(
            "Cipher", at: place, "There is no encrypted value, or it is no base64.",
            remedy: "Write EncryptedValue with EncryptionMethod and CipherData.")
    }
    static func macMissing(_ place: String) -> Self {
        Self(
            "MAC", at: place, "It is missing, and keys in cipher are not taken without.",
            remedy: "Write a MACMethod, and a ValueMAC beside each EncryptedValue.")
    }
    static func macWrong(_ place: String) -> Self {
        Self(
            "MAC", at: place, "The ValueMAC is not that of the encrypted value.",
            remedy: "Compute it with HMAC-SHA-512 over IV and ciphertext, under the document's MAC key.")
    }
    static func notOpen(_ place: String) -> Self {
        Self(
            "Cipher", at: place, "The value does not open with the certificate's private key.",
            remedy: "Encrypt it to the certificate that the document names, by RSA-OAEP with SHA-1 and MGF1.")
    }
    static func cipher(_ place: String) -> Self {
        Self(
            "Cipher", at: place, "The value does not open with the document key.",
            remedy: "Encrypt it by AES-256-CBC with the IV in front and PKCS#7 padding.")
    }
}
