import Foundation
import LatchkeyCore
import LatchkeyServer

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// A KeyOS authentication: XML in base64.
///
/// Its signature is made with the customer's RSA key, which no documentation lets the service check.
///
/// Source: `vendors.md` §11, token.
struct KeyOSAuthentication: Sendable {
    /// The texts of the elements below `Data`, and the attributes of `FairPlayPolicy`.
    private let texts: [String: String]
    private let policy: [String: String]

    /// - Parameters:
    ///   - bytes: the XML.
    ///   - date: now.
    init(_ bytes: Data, date: Date) throws(LicenseRefusal) {
        let reader = Reader()
        let parser = XMLParser(data: bytes)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        guard parser.parse(), reader.root == "KeyOSAuthenticationXML" else {
            throw .tokenMalformed("The authentication is not a KeyOSAuthenticationXML.")
        }
        (texts, policy) = (reader.texts, reader.policy)
        for name in ["GenerationTime", "ExpirationTime", "UniqueId", "RSAPubKeyId", "Signature"]
        where texts[name] == nil {
            throw .tokenMalformed("The authentication has no “\(name)”.")
        }
        guard let end = Self.date(texts["ExpirationTime"] ?? "") else {
            throw .tokenMalformed("The “ExpirationTime” is not in the form yyyy-MM-dd HH:mm:ss.SSS.")
        }
        guard date < end else { throw .tokenExpired("The authentication's “ExpirationTime” is over.") }
    }

    /// The certificate's identifier.
    var publicKeyID: String { texts["RSAPubKeyId"] ?? "" }

    /// The terms that it grants; nil where it says nothing.
    var terms: LicenseTerms? { policy["persistent"] == "true" ? LicenseTerms(.persistent) : nil }

    /// Reads `yyyy-MM-dd HH:mm:ss` with or without a fraction, as UTC.
    private static func date(_ text: String) -> Date? {
        guard text.utf8.count >= 19 else { return nil }
        return UTCTimestamp.date("\(text.prefix(10))T\(text.dropFirst(11).prefix(8))Z")
    }

    private final class Reader: NSObject, XMLParserDelegate {
        private(set) var root: String?
        private(set) var texts: [String: String] = [:]
        private(set) var policy: [String: String] = [:]
        private var text = ""

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            root = root ?? name
            text = ""
            if name == "FairPlayPolicy" { policy = attributes }
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            texts[name] = texts[name] ?? text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}
