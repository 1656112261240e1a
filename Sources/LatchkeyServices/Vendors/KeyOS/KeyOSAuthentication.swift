import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyVendorWire

/// A KeyOS authentication: XML in base64, signed with the customer's RSA key.
///
/// The vendor's page does not document the signature. The emulator uses RSA with SHA-1 over the bytes from `<Data>` to `</Data>` and checks
/// the signature only if it has a key.
///
/// Source: `Documentation/Vendors/KeyOS.md`, token.
struct KeyOSAuthentication: Sendable {
    private let document: KeyOSDocument

    /// - Parameters:
    ///   - bytes: the XML.
    ///   - key: the key that signs authentications; `nil` accepts any signature.
    ///   - date: now.
    init(_ bytes: Data, key: RSAPrivateKey?, date: Date) throws(LicenseRefusal) {
        guard let document = KeyOSDocument(bytes) else {
            throw .tokenMalformed("The authentication is not one KeyOSAuthenticationXML with Data and Signature.")
        }
        self.document = document
        for name in ["GenerationTime", "ExpirationTime", "UniqueId", "RSAPubKeyId"] where document.texts[name] == nil {
            throw .tokenMalformed("The authentication has no “\(name)”.")
        }
        if let key { try check(key) }
        _ = try Self.date(document.texts["GenerationTime"], "GenerationTime")
        let end = try Self.date(document.texts["ExpirationTime"], "ExpirationTime")
        guard date < end else { throw .tokenExpired("The authentication's “ExpirationTime” has passed.") }
    }

    /// The certificate's identifier.
    var publicKeyID: String { document.texts["RSAPubKeyId"] ?? "" }

    /// The terms that it grants; `nil` if it states none.
    var terms: LicenseTerms? { document.policy["persistent"] == "true" ? LicenseTerms(.persistent) : nil }

    private func check(_ key: RSAPrivateKey) throws(LicenseRefusal) {
        guard let signature = Data(base64Encoded: document.signature),
            key.isSigned(Array(document.signed), with: Array(signature))
        else {
            throw LicenseRefusal(
                .tokenSignature, reason: "The authentication is not signed with the customer's key.",
                remedy: "Sign the text from <Data> to </Data> with the RSA key that is configured at the service."
            )
        }
    }

    /// Reads `yyyy-MM-dd HH:mm:ss` with or without a fraction of digits, as UTC.
    private static func date(_ text: String?, _ name: String) throws(LicenseRefusal) -> Date {
        let text = text ?? ""
        let fraction = text.utf8.dropFirst(19)
        let isFraction =
            fraction.isEmpty || (fraction.first == UInt8(ascii: ".") && fraction.dropFirst().allSatisfy(isDigit))
        guard isFraction, text.dropFirst(10).first == " ",
            let date = UTCTimestamp.date("\(text.prefix(10))T\(text.dropFirst(11).prefix(8))Z")
        else { throw .tokenMalformed("The “\(name)” is not in the form yyyy-MM-dd HH:mm:ss.SSS.") }
        return date
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
