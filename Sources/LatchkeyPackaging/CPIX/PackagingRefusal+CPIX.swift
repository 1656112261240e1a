import LatchkeyCore
import LatchkeyFairPlay

// Why a CPIX document is not imported or exported.
extension PackagingRefusal {
    init(cpix code: String, at place: String = "", _ what: String, status: Int = 422, remedy: String) {
        self.init(
            code: "cpix\(code)", at: place, place.isEmpty ? what : "\(place): \(what)", status: status, remedy: remedy)
    }

    init(_ error: OpenSSLError) { self.init(cpix: "Cryptography", error.reason, status: 503, remedy: error.remedy) }

    static let cpixRoot = Self(cpix: "Root", "The document is not CPIX.", remedy: "Send a CPIX document.")
    static let cpixVersion = Self(
        cpix: "Version", at: "CPIX@version", "The version is not 2.3, 2.3.1 or 2.4.",
        remedy: "Send one of these versions.")
    static let noKeys = Self(
        cpix: "Keys", at: "ContentKeyList", "The document has no key that encrypts media.",
        remedy: "Send the keys of the content.")
    static let cpixTooMany = Self(
        cpix: "TooMany", at: "ContentKeyList", "There are more than \(CPIXDocument.keyLimit) keys.", status: 413,
        remedy: "Send fewer keys in one document.")
    static let cpixPeriods = Self(
        cpix: "Periods", at: "ContentKeyPeriodList",
        "A period has no id, an index that is not a whole number, or a duplicate id.",
        remedy: "Give each period a unique id.")

    static func cpixKID(_ place: String) -> Self {
        Self(cpix: "KID", at: place, "The kid is missing or not a UUID.", remedy: "Write the kid as a UUID.")
    }
    static func twice(_ place: String) -> Self {
        Self(cpix: "KID", at: place, "Another key has the same kid.", remedy: "Send each key once.")
    }
    static func content(_ place: String) -> Self {
        Self(
            cpix: "Content", at: place, "The content is not stated, or its name is longer than 256 bytes.",
            remedy: "Set contentId, or use ?content=NAME.")
    }
    static func longContent(_ place: String, _ objection: Diagnosis) -> Self {
        Self(cpix: "Content", at: place, "\(objection.reason).", remedy: objection.remedy)
    }
    static func value(_ place: String) -> Self {
        Self(cpix: "Value", at: place, "There is no key of 16 bytes.", remedy: "Send the key as base64 of 16 bytes.")
    }
    static func iv(_ place: String) -> Self {
        Self(cpix: "IV", at: place, "The explicitIV is not 16 bytes.", remedy: "Send the IV as base64 of 16 bytes.")
    }
    /// Keys without an IV.
    static func ivMissing(_ kids: [KeyID]) -> Self {
        let names = kids.map { "\($0)" }.joined(separator: ", ")
        return Self(
            cpix: "IV", at: "ContentKey@explicitIV",
            "It is missing or 16 zeros for \(names), but FairPlay licenses must carry it.",
            remedy: "Send the IV that the media is encrypted with, as base64 of 16 bytes.")
    }
    static func cpixScheme(_ place: String) -> Self {
        Self(
            cpix: "Scheme", at: place, "The commonEncryptionScheme is not cenc, cens, cbc1 or cbcs.",
            remedy: "Send one of these, or omit it for any scheme.")
    }
    static func root(_ place: String) -> Self {
        Self(
            cpix: "Hierarchy", at: place, "The key that it depends on is not in the document, or depends on another.",
            remedy: "Also send the root key.")
    }
    static func rule(_ place: String) -> Self {
        Self(
            cpix: "Rules", at: place, "Its key encrypts no media, its period is unknown, or a filter is not a range.",
            remedy: "Correct the usage rule.")
    }
    static func noRecipient(_ place: String) -> Self {
        Self(
            cpix: "Recipient", at: place, "The keys are not encrypted to any of this server's certificates.",
            remedy: "Encrypt them to a certificate of this server.")
    }
    /// - Parameters:
    ///   - found: the algorithm in the document; `nil` for none.
    ///   - wanted: the algorithm that CPIX prescribes there.
    static func algorithm(_ place: String, _ found: String?, _ wanted: String) -> Self {
        let shown = found.map { "The algorithm is \(String($0.prefix(100)).onOneLine)." } ?? "It names no algorithm."
        return Self(cpix: "Algorithm", at: place, shown, remedy: "Use \(wanted).")
    }
    static func valueMissing(_ place: String) -> Self {
        Self(
            cpix: "Cipher", at: place, "The encrypted value is missing, or is not base64.",
            remedy: "Write EncryptedValue with EncryptionMethod and CipherData.")
    }
    static func macMissing(_ place: String) -> Self {
        Self(
            cpix: "MAC", at: place, "It is missing, and encrypted keys require it.",
            remedy: "Add a MACMethod, and a ValueMAC next to each EncryptedValue.")
    }
    static func macWrong(_ place: String) -> Self {
        Self(
            cpix: "MAC", at: place, "The ValueMAC does not match the encrypted value.",
            remedy: "Compute it with HMAC-SHA-512 over IV and ciphertext, under the document's MAC key.")
    }
    static func notOpen(_ place: String) -> Self {
        Self(
            cpix: "Cipher", at: place, "The value cannot be decrypted with the certificate's private key.",
            remedy: "Encrypt it to the certificate that the document names, using RSA-OAEP with SHA-1 and MGF1.")
    }
    static func cipher(_ place: String) -> Self {
        Self(
            cpix: "Cipher", at: place, "The value cannot be decrypted with the document key.",
            remedy: "Encrypt it using AES-256-CBC with the IV in front and PKCS#7 padding.")
    }
}
