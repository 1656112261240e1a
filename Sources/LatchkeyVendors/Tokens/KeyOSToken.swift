import Foundation
import LatchkeyCore

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// KeyOS's token: an authentication XML document in base64.
struct KeyOSToken {
    /// The texts of elements by name. The first element of a name counts.
    let texts: [String: String]
    /// Whether `FairPlayPolicy` allows the key to be stored; `nil` if it does not say.
    let isPersistent: Bool?

    /// - Parameter token: base64 of a whole `KeyOSAuthenticationXML` document without a document type; else the result is `nil`.
    init?(_ token: String) {
        guard let document = Self.document(token) else { return nil }
        let reader = KeyOSReader()
        let parser = XMLParser(data: document)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        guard parser.parse(), reader.isWhole, reader.root == "KeyOSAuthenticationXML" else { return nil }
        texts = reader.texts
        isPersistent = reader.persistent.flatMap { Bool($0.lowercased()) }
    }

    /// Whether a token decodes to something that begins like the document.
    static func isLikely(_ token: String) -> Bool { document(token) != nil }

    func date(_ name: String) -> Date? { texts[name].flatMap(Self.date) }

    /// A document type could define entities that expand without limit. KeyOS documents have none.
    private static func document(_ token: String) -> Data? {
        guard let data = Data(lenientBase64: token), data.count <= TokenFormat.maximumLength,
            let text = String(data: data, encoding: .utf8), text.contains("<KeyOSAuthenticationXML"),
            !text.contains("<!DOCTYPE"), !text.contains("<!ENTITY"), !text.hasProcessingInstruction
        else { return nil }
        return data
    }

    /// Reads `yyyy-MM-dd HH:mm:ss.SSS`, taken as UTC.
    private static func date(_ text: String) -> Date? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        return parts.count == 2 ? Date(lenientISO8601: "\(parts[0])T\(parts[1])Z") : nil
    }
}

/// Collects the values for the inspection. Used for one parse, on one thread.
private final class KeyOSReader: NSObject, XMLParserDelegate {
    private static let wanted: Set = ["GenerationTime", "ExpirationTime", "UniqueId", "RSAPubKeyId"]
    private static let maximumTextLength = 256
    private static let maximumDepth = 32

    var root: String?
    var texts: [String: String] = [:]
    var persistent: String?
    private var open: [String] = []
    private var text = ""
    private var isBroken = false

    /// Whether every element was closed in order. On Linux the parser accepts documents that break off.
    var isWhole: Bool { open.isEmpty && !isBroken }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        root = root ?? name
        open.append(name)
        text = ""
        if name == "FairPlayPolicy" { persistent = persistent ?? attributes["persistent"] }
        if open.count > Self.maximumDepth { parser.abortParsing() }
    }

    func parser(_ parser: XMLParser, foundCharacters characters: String) {
        guard let name = open.last, Self.wanted.contains(name), text.utf8.count < Self.maximumTextLength else { return }
        text += characters.prefix(Self.maximumTextLength)
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        if Self.wanted.contains(name), texts[name] == nil {
            texts[name] = text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        if open.popLast() != name { isBroken = true }
        text = ""
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) { isBroken = true }
}

extension TokenInspection {
    /// The time of expiry, the permission to store, and the name of the certificate.
    ///
    /// Source: `Documentation/Vendors/KeyOS.md`, token.
    mutating func readKeyOS(_ token: String, _ use: TokenUse) {
        guard let token = KeyOSToken(token) else {
            advice = [.malformed("not base64 of a KeyOSAuthenticationXML document")]
            return
        }
        add("generated", token.date("GenerationTime")?.iso8601)
        add("certificate", token.texts["RSAPubKeyId"])
        if let end = token.date("ExpirationTime") {
            checkEnd(end, use.date)
        } else {
            advice.append(.malformed("its ExpirationTime is not of the form yyyy-MM-dd HH:mm:ss.SSS"))
        }
        if let key = token.texts["RSAPubKeyId"], let wanted = Self.certificateName(use),
            !key.caseInsensitiveEquals(wanted)
        {
            advice.append(.unsuitable("its RSAPubKeyId is not the name of the certificate"))
        }
        checkStorage(token.isPersistent, use)
    }

    /// KeyOS's name of a certificate, 32 hexadecimal digits, if the configured address ends with it.
    private static func certificateName(_ use: TokenUse) -> String? {
        let path = use.settings[SettingName.certificateURL]?.prefix { $0 != "?" }
        guard let file = path?.split(separator: "/").last, file.hasSuffix(".der") else { return nil }
        let name = String(file.dropLast(4))
        return Data(hexString: name)?.count == 16 ? name : nil
    }
}
