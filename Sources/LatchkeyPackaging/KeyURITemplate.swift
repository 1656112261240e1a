import Foundation
package import LatchkeyCore
package import LatchkeyVault

/// How a tenant's key URIs are made, and read back when a player asks for the license.
///
/// `skd://keys.example/{contentId}/{kid}`: `{contentId}` is the content with everything but letters, digits, `-`, `.`, `_` and `~` as
/// percent escapes, `{kid}` a UUID in lower case, `{iv}` 32 hexadecimal digits. With the IV in the URI, an encryptor's IV need not be
/// stored.
///
/// Source: `Documentation/LicenseServer.md` §2.4.
package struct KeyURITemplate: Sendable, Hashable {
    private enum Part: Hashable {
        case literal(String)
        case contentID
        case kid
        case iv

        /// Its length in a URI, in bytes; 0 for the content.
        var count: Int {
            switch self {
            case .literal(let text): text.utf8.count
            case .contentID: 0
            case .kid: 36
            case .iv: 32
            }
        }
    }

    /// `skd://{contentId}/{kid}`.
    package static let standard = KeyURITemplate(
        text: "skd://{contentId}/{kid}", parts: [.literal("skd://"), .contentID, .literal("/"), .kid], scheme: "skd://")

    /// The template as written.
    package let text: String
    /// The scheme with its slashes, such as `skd://`.
    package let scheme: String
    private let parts: [Part]

    private init(text: String, parts: [Part], scheme: String) {
        self.text = text
        self.parts = parts
        self.scheme = scheme
    }

    /// - Parameter text: the template. It has a scheme, `{kid}` once, `{contentId}` and `{iv}` at most once, only visible ASCII without
    ///   quotes, and after `{contentId}` the end or a character that ends it, such as `/`.
    /// - Throws: `keyURITemplate` with the problem.
    package init(_ text: String) throws(Diagnosis) {
        guard text.utf8.allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\"") }) else {
            throw .template("It has a space, a quote or a letter that is not ASCII.")
        }
        self.text = text
        parts = try Self.parts(of: text)
        guard case .literal(let start)? = parts.first, let slashes = start.firstRange(of: "://") else {
            throw .template("It does not begin with a scheme such as skd://.")
        }
        scheme = String(start[..<slashes.upperBound])
        for part in [Part.contentID, .kid, .iv] where parts.count(where: { $0 == part }) > 1 {
            throw .template("It repeats a placeholder.")
        }
        guard parts.contains(.kid) else { throw .template("It has no {kid}.") }
        if let index = parts.firstIndex(of: .contentID), index + 1 < parts.count {
            guard case .literal(let next) = parts[index + 1], let end = next.utf8.first, !Self.isPlain(end),
                end != UInt8(ascii: "%")
            else { throw .template("Its {contentId} has no terminator.") }
        }
    }

    /// The URI of a key.
    /// - Parameters:
    ///   - content: the content.
    ///   - kid: the key's identifier.
    ///   - iv: the IV, 16 bytes.
    package func uri(content: ContentName, kid: KeyID, iv: Secret) -> KeyURI {
        let text = parts.map { part in
            switch part {
            case .literal(let text): text
            case .contentID: Self.escaped(content)
            case .kid: kid.description
            case .iv: iv.revealed.hexString
            }
        }
        return KeyURI(text.joined())
    }

    /// The parts of a URI of this template; `nil` for other URIs.
    package func reading(of uri: KeyURI) -> KeyURIReading? { reading(of: uri, content: Self.unescaped) }

    /// The parts of a URI of this template whose percent escapes the player has decoded; `nil` for other URIs.
    func reading(ofDecoded uri: KeyURI) -> KeyURIReading? {
        reading(of: uri) { ContentName(bytes: Data($0)) }
    }

    private func reading(
        of uri: KeyURI, content read: (Substring.UTF8View) -> ContentName?
    ) -> KeyURIReading? {
        var rest = uri.raw.utf8[...]
        // All parts but the content have a fixed length.
        let contentCount = rest.count - parts.reduce(0) { $0 + $1.count }
        guard contentCount >= 0 else { return nil }
        var content: ContentName?
        var kid: KeyID?
        var iv: [UInt8]?
        for part in parts {
            switch part {
            case .literal(let text):
                guard rest.starts(with: text.utf8) else { return nil }
                rest = rest.dropFirst(text.utf8.count)
            case .contentID:
                let raw = rest.prefix(contentCount)
                content = read(raw)
                guard content != nil else { return nil }
                rest = rest[raw.endIndex...]
            case .kid:
                guard let text = Self.take(part.count, from: &rest), let id = KeyID(text),
                    id.description == text.lowercased()
                else { return nil }
                kid = id
            case .iv:
                guard let text = Self.take(part.count, from: &rest), let bytes = KeyID(text)?.bytes else { return nil }
                iv = [UInt8](bytes)
            }
        }
        guard rest.isEmpty, let kid else { return nil }
        return KeyURIReading(kid: kid, content: content, iv: iv)
    }

    private static func parts(of text: String) throws(Diagnosis) -> [Part] {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { throw .template("A brace is not closed.") }
            if open > rest.startIndex { parts.append(.literal(String(rest[..<open]))) }
            switch rest[rest.index(after: open)..<close] {
            case "contentId": parts.append(.contentID)
            case "kid": parts.append(.kid)
            case "iv": parts.append(.iv)
            default: throw .template("It has a placeholder other than {contentId}, {kid} and {iv}.")
            }
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.literal(String(rest))) }
        return parts
    }

    private static func escaped(_ content: ContentName) -> String {
        content.bytes.reduce(into: "") { text, byte in
            text += isPlain(byte) ? String(Unicode.Scalar(byte)) : "%" + [byte].hexString.uppercased()
        }
    }

    /// The content in its escaped form; `nil` for other text.
    private static func unescaped(_ text: Substring.UTF8View) -> ContentName? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                guard isPlain(byte) else { return nil }
                bytes.append(byte)
                continue
            }
            guard let digits = take(2, from: &rest), let escaped = Data(hexString: digits)?.first else { return nil }
            bytes.append(escaped)
        }
        return ContentName(bytes: Data(bytes))
    }

    private static func take(_ count: Int, from rest: inout Substring.UTF8View) -> String? {
        let taken = rest.prefix(count)
        guard taken.count == count else { return nil }
        rest = rest.dropFirst(count)
        return String(decoding: taken, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension Diagnosis {
    package static func template(_ reason: String) -> Diagnosis {
        Diagnosis(
            code: "keyURITemplate", reason: "The template of key URIs is invalid. \(reason)",
            remedy: "Use a template such as skd://host/{contentId}/{kid}.")
    }
}
