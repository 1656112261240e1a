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
            return (ckc, .unusualForm(body.apparentFormat))
        }
    }

    private func checkedCKC(_ body: Data) throws(IntegrationError) -> Secret {
        guard !body.isEmpty else { throw .licenseMalformed("The license service answered with an empty body.") }
        let ckc = try undecoratedCKC(body)
        try Self.checkLength(ckc)
        return ckc
    }

    private func undecoratedCKC(_ body: Data) throws(IntegrationError) -> Secret {
        switch self {
        case .raw: return try Self.raw(body)
        case .base64Text: return try Self.base64(Self.text(body), body)
        case .tagged: return try Self.base64(Self.untagged(Self.text(body)), body)
        case .json(let paths): return try Self.json(paths, body)
        case .jsonOr(let paths, let other):
            return try Self.startsWithBrace(body) ? Self.json(paths, body) : other.undecoratedCKC(body)
        case .tolerant: return try Self.tolerant(body)
        case .preferring(let decoder): return try decoder.undecoratedCKC(body)
        }
    }

    /// Refuses a CKC that was damaged in transit: version 1 states the payload's length in bytes 24 to 27.
    ///
    /// Source: `Documentation/FairPlay.md` §6.
    private static func checkLength(_ ckc: Secret) throws(IntegrationError) {
        let header = 28
        guard ckc.count >= header else {
            throw .licenseMalformed("The CKC is cut off: \(ckc.count) bytes, less than its header of \(header).")
        }
        let (version, payload) = ckc.withUnsafeBytes { bytes in
            (
                bytes.loadUnaligned(as: UInt32.self).bigEndian,
                bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self).bigEndian
            )
        }
        // Anything else, such as a text in an old character set, would have a large version.
        guard version < 256 else { throw .licenseMalformed("The reply is no CKC (\(ckc.count) bytes).") }
        let stated = header + Int(payload)
        guard version == 1, stated != ckc.count else { return }
        throw .licenseMalformed(
            stated > ckc.count
                ? "The CKC is cut off: \(ckc.count) bytes instead of \(stated)."
                : "The CKC has \(ckc.count) bytes, more than the \(stated) that it states.")
    }

    /// Refuses pages and documents. A player that gets one as a CKC reports no more than −42668.
    private static func raw(_ body: Data) throws(IntegrationError) -> Secret {
        let format = body.apparentFormat
        guard format.hasPrefix("other data") else {
            throw .licenseMalformed("The reply should be the CKC, and is \(format).")
        }
        return Secret(body)
    }

    private static func text(_ body: Data) throws(IntegrationError) -> String {
        guard let text = String(data: body, encoding: .utf8) else {
            throw .licenseMalformed("The reply should be text, and is other data (\(body.count) bytes).")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func untagged(_ text: String) -> String {
        guard text.hasPrefix("<ckc>"), text.hasSuffix("</ckc>") else { return text }
        return String(text.dropFirst(5).dropLast(6))
    }

    private static func base64(_ text: String, _ body: Data) throws(IntegrationError) -> Secret {
        // Lenient decoding takes a space for a lost `+`, and so a sentence for base64.
        guard !text.contains(" "), let data = Data(lenientBase64: text) else {
            throw .licenseMalformed("The reply should be base64 text, and is \(body.apparentFormat).")
        }
        return Secret(data)
    }

    private static func json(_ paths: [String], _ body: Data) throws(IntegrationError) -> Secret {
        guard let reply = JSONReply(body) else {
            throw .licenseMalformed("The reply should be JSON, and is \(body.apparentFormat).")
        }
        let wanted = paths.joined(separator: "\" or \"")
        guard let text = paths.lazy.compactMap({ reply.text(at: $0) }).first else {
            throw .licenseMalformed("The JSON reply has no \"\(wanted)\".")
        }
        guard !text.contains(" "), let data = Data(lenientBase64: untagged(text)) else {
            throw .licenseMalformed("The value of \"\(wanted)\" in the JSON reply is not base64.")
        }
        return Secret(data)
    }

    private static func tolerant(_ body: Data) throws(IntegrationError) -> Secret {
        guard !body.apparentFormat.hasPrefix("other data") else { return Secret(body) }
        if startsWithBrace(body) { return try json(["ckc", "CkcMessage", "License"], body) }
        return try base64(untagged(text(body)), body)
    }

    private static func startsWithBrace(_ body: Data) -> Bool {
        body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
    }
}
