package import Foundation
package import LatchkeyCore

/// How to read the CKC in a reply.
///
/// Source: `Documentation/Vendors/README.md` §0 (the decoding ladder) and §23.6.
package indirect enum CKCDecoder: Sendable, Hashable {
    /// The body is the CKC.
    case raw
    /// The body is base64 text.
    case base64Text
    /// The body is base64 text, perhaps inside `<ckc>` and `</ckc>`.
    case tagged
    /// The CKC is base64 text at the first of these paths that exists.
    case json([String])
    /// As `json` if the body begins with `{`, else as the other decoder.
    case jsonOr([String], CKCDecoder)
    /// Any usual form: JSON (`ckc`, `CkcMessage`, `License`), `<ckc>`, base64 text, raw bytes.
    case tolerant
    /// As the other decoder. A reply in another usual form is read too, with a warning.
    case preferring(CKCDecoder)
}

extension CKCDecoder {
    /// The CKC in a reply's body.
    /// - Throws: `licenseMalformed` if there is none. The reason says what the body is instead.
    package func contentKeyContext(from body: Data) throws(IntegrationError) -> Secret { try ckc(in: body).ckc }

    /// The CKC in a reply's body, and a warning if its form is not the vendor's.
    func ckc(in body: Data) throws(IntegrationError) -> (ckc: Secret, warning: ReplyWarning?) {
        guard case .preferring(let decoder) = self else { return (try checkedCKC(body), nil) }
        do {
            return (try decoder.checkedCKC(body), nil)
        } catch {
            guard let ckc = try? Self.tolerant.checkedCKC(body) else { throw error }
            return (ckc, .unusualForm(Recognition(body).noun))
        }
    }

    private func checkedCKC(_ body: Data) throws(IntegrationError) -> Secret {
        guard !body.isEmpty else { throw .licenseMalformed("The license service answered with an empty body.") }
        let ckc = try undecoratedCKC(body)
        switch Recognition(ckc.revealed) {
        // A later version is left to the player.
        case .ckc, .laterVersion: return ckc
        case let found:
            let whole = Recognition(body)
            if case .damaged = whole { throw .licenseMalformed("The reply is \(whole.noun).") }
            let isPlainJSON = whole == .json(field: nil, .text) && found != whole
            let value = isPlainJSON ? ", in which \(found.described(ckc.revealed)) is in its place" : ""
            throw .licenseMalformed("The reply should \(holds) the CKC, and is \(whole.described(body))\(value).")
        }
    }

    /// Whether the reply is the CKC or has it inside.
    private var holds: String { self == .raw ? "be" : "hold" }

    private func undecoratedCKC(_ body: Data) throws(IntegrationError) -> Secret {
        switch self {
        case .raw: return Secret(body)
        case .base64Text: return Self.base64(try Self.text(body))
        case .tagged: return Self.base64(Self.untagged(try Self.text(body)))
        case .json(let paths): return try Self.json(paths, body)
        case .jsonOr(let paths, let other):
            return try Self.startsWithBrace(body) ? Self.json(paths, body) : other.undecoratedCKC(body)
        case .tolerant: return try Self.tolerant(body)
        case .preferring(let decoder): return try decoder.undecoratedCKC(body)
        }
    }

    private static func text(_ body: Data) throws(IntegrationError) -> String {
        guard let text = String(data: body, encoding: .utf8) else {
            throw .licenseMalformed("The reply should be text, and is \(Recognition(body).described(body)).")
        }
        return text.withoutOuterSpace
    }

    private static func untagged(_ text: String) -> String {
        guard text.hasPrefix("<ckc>"), text.hasSuffix("</ckc>") else { return text }
        return String(text.dropFirst(5).dropLast(6))
    }

    /// The bytes of base64 text; other text is returned as it is, for the error to name.
    private static func base64(_ text: String) -> Secret {
        Secret(Data(lenientBase64: text) ?? Data(text.utf8))
    }

    private static func json(_ paths: [String], _ body: Data) throws(IntegrationError) -> Secret {
        guard let reply = JSONReply(body) else {
            throw .licenseMalformed("The reply should be JSON, and is \(Recognition(body).described(body)).")
        }
        let wanted = paths.joined(separator: "\" or \"")
        guard let text = paths.lazy.compactMap({ reply.text(at: $0) }).first else {
            let whole = Recognition(body)
            let found = whole.isTelling ? "; it is \(whole.noun)" : ""
            throw .licenseMalformed("The JSON reply has no \"\(wanted)\"\(found).")
        }
        return base64(untagged(text))
    }

    private static func tolerant(_ body: Data) throws(IntegrationError) -> Secret {
        if Recognition(body).isBinary { return Secret(body) }
        if startsWithBrace(body) { return try json(usualPaths, body) }
        return base64(untagged(try text(body)))
    }

    /// The usual places of the CKC in a JSON reply.
    package static let usualPaths = ["ckc", "CkcMessage", "License"]

    private static func startsWithBrace(_ body: Data) -> Bool {
        body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
    }
}
