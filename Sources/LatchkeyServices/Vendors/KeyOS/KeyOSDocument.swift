import Foundation
import LatchkeyCore

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The XML of a KeyOS authentication: one root with one `Data`, then one `Signature`, and nothing around it.
struct KeyOSDocument: Sendable {
    /// The texts of the elements below `Data`. Names are unique.
    let texts: [String: String]
    /// The attributes of `FairPlayPolicy`.
    let policy: [String: String]
    /// The text of `Signature`, never empty.
    let signature: String
    /// The signed bytes, from `<Data>` to `</Data>`.
    let signed: Data

    /// - Parameter bytes: UTF-8. The result is `nil` for any other shape, for a document type declaration and for an
    /// instruction.
    init?(_ bytes: Data) {
        guard let text = String(bytes: bytes, encoding: .utf8), !text.utf8.contains(0), !text.contains("<!"),
            !text.hasProcessingInstruction, let signed = Self.signed(in: text)
        else { return nil }
        let reader = Reader()
        let parser = XMLParser(data: bytes)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        guard parser.parse(), reader.isWhole else { return nil }
        (texts, policy, signature) = (reader.texts, reader.policy, reader.signature)
        self.signed = signed
    }

    /// The bytes from the only `<Data>` to the only `</Data>`. Only blanks may follow the root.
    private static func signed(in text: String) -> Data? {
        let starts = text.ranges(of: "<Data>")
        let ends = text.ranges(of: "</Data>")
        guard starts.count == 1, ends.count == 1, text.ranges(of: "</KeyOSAuthenticationXML>").count == 1,
            let start = starts.first?.lowerBound, let end = ends.first?.upperBound, start < end,
            text.trimmingCharacters(in: .whitespacesAndNewlines).hasSuffix("</KeyOSAuthenticationXML>")
        else { return nil }
        return Data(text[start..<end].utf8)
    }

    private final class Reader: NSObject, XMLParserDelegate {
        private(set) var texts: [String: String] = [:]
        private(set) var policy: [String: String] = [:]
        private(set) var signature = ""
        /// The names of the open elements, outermost first.
        private var path: [String] = []
        private var parts: [String] = []
        private var roots = 0
        private var hasDoubles = false
        private var text = ""

        /// Whether the document had the one shape.
        var isWhole: Bool { roots == 1 && parts == ["Data", "Signature"] && !hasDoubles && !signature.isEmpty }

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            if path.isEmpty { roots += name == "KeyOSAuthenticationXML" ? 1 : 2 }
            if path.count == 1 { parts.append(name) }
            if path == ["KeyOSAuthenticationXML", "Data"], name == "FairPlayPolicy" { policy = attributes }
            path.append(name)
            text = ""
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            path.removeLast()
            let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if path == ["KeyOSAuthenticationXML", "Data"] {
                hasDoubles = texts.updateValue(text, forKey: name) != nil || hasDoubles
            } else if path == ["KeyOSAuthenticationXML"], name == "Signature" {
                signature = text
            }
        }
    }
}
