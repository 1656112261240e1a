import Foundation
import LatchkeyCore

/// How the CKC is taken out of a reply.
///
/// Source: `vendors.md` §0 (the decoding ladder) and §23.6.
public indirect enum CKCDecoder: Sendable, Hashable {
    /// The body is the CKC.
    case raw
    /// The body is base64 text.
    case base64Text
    /// The body is base64 text, perhaps inside `<ckc>` and `</ckc>`.
    case tagged
    /// The CKC is base64 text at the first of these paths that is there.
    case json([String])
    /// As `json` where the body begins with `{`, else as the other decoder says.
    case jsonOr([String], CKCDecoder)
    /// Whatever is usual: JSON (`ckc`, `CkcMessage`, `License`), `<ckc>`, base64 text, raw bytes.
    case tolerant
}

extension CKCDecoder {
    /// The CKC in a reply's body.
    /// - Throws: `licenseMalformed` where there is none, saying what is there instead.
    func contentKeyContext(from body: Data) throws(IntegrationError) -> Secret {
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
        }
    }

    /// Refuses a CKC that was damaged on its way: one of version 1 states its payload's length in bytes 24 to 27.
    ///
    /// Source: `fps-protocol.md` §6.
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
        // The version of anything else, such as a text in an old character set, would be large.
        guard version < 256 else { throw .licenseMalformed("The reply is no CKC (\(ckc.count) bytes).") }
        let stated = header + Int(payload)
        guard version == 1, stated != ckc.count else { return }
        throw .licenseMalformed(
            stated > ckc.count
                ? "The CKC is cut off: \(ckc.count) bytes instead of \(stated)."
                : "The CKC has \(ckc.count) bytes, more than the \(stated) that it states.")
    }

    /// Refuses pages and documents, which have ended as a "CKC" in players; −42668 is all that a viewer saw of them.
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
        // A blank would count as a lost `+`, and a sentence as base64.
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
