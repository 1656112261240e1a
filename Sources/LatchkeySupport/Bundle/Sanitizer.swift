import Foundation
import Latchkey
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// Turns requests, replies and credentials into versions that are safe to share and that a loader reads like the originals.
///
/// A CKC keeps its lengths; a certificate stays unchanged, as it is public; JSON keeps its members, text its words. Random-looking values
/// are replaced by pseudonyms, and so is every text whose name sounds secret.
struct Sanitizer: Sendable {
    let pseudonyms: Pseudonyms
    let redaction: Redaction
    let kept: KeptWords
    /// The header fields that contain the vendor's codes.
    let codeFields: Set<String>

    /// The longest body that is kept: 64 KiB.
    static let bodyLimit = 64 << 10

    init(_ integration: any VendorIntegration, seed: UInt64) {
        pseudonyms = Pseudonyms(seed: seed)
        redaction = integration.redaction
        let rules = (integration as? ConfiguredVendor).map { vendor in
            [vendor.profile.errors] + [vendor.profile.lookup?.errors, vendor.profile.session?.errors].compactMap { $0 }
        }
        var (kept, fields) = (KeptWords(words: Set(Diagnosis.Kind.all.map(\.rawValue))), Set<String>())
        for rules in rules ?? [] {
            kept.words.formUnion(rules.codes.keys)
            for place in rules.code {
                if case .word(let start) = place { kept.beginnings.append(start) }
                if case .header(let name) = place { fields.insert(name.lowercased()) }
            }
        }
        (self.kept, codeFields) = (kept, fields)
    }
}

// MARK: - Exchanges

extension Sanitizer {
    /// An exchange with everything that may be secret replaced.
    /// - Parameter secrets: the secrets sent, which must not appear in any form.
    func exchange(_ exchange: RecordedExchange, hiding secrets: SecretForms) -> RecordedExchange {
        func shown(_ data: Data) -> Data {
            let body = body(data)
            return String(data: body, encoding: .utf8).map { Data(secrets.scrubbed($0).utf8) } ?? body
        }
        func shown(_ fields: [(name: String, value: String)]) -> [(name: String, value: String)] {
            fields.map { name, value in
                (
                    name.isPlain ? name.onOneLine : pseudonyms.value(name.onOneLine),
                    secrets.scrubbed(self.value(value, ofField: name)).onOneLine
                )
            }
        }
        var exchange = exchange
        exchange.request = exchange.request.map { request in
            RecordedRequest(
                method: request.method, url: secrets.scrubbed(pseudonyms.url(request.url)),
                headers: shown(request.headers), body: request.body.map(shown))
        }
        exchange.reply = exchange.reply.map { reply in
            HTTPReply(status: reply.status, headers: shown(reply.headers), body: shown(reply.body))
        }
        return exchange
    }
}

// MARK: - Bodies

extension Sanitizer {
    /// A body without secrets.
    func body(_ body: Data) -> Data {
        if body.isEmpty { return body }
        if let certificate = Self.certificate(body) { return certificate }
        if let ckc = Self.contentKeyContext(body) { return ckc }
        let body = Data(body.prefix(Self.bodyLimit))
        let found = Recognition(body)
        let isText = !found.isBinary && String(data: body, encoding: .utf8) != nil
        let blotted = isText || found == .webPage ? text(body) : Self.blotted(body)
        // A recognizably different body must not turn into a possible certificate bundle, which has 128 bytes or more.
        let isOpaque = found.core != .unknown && found.core != .bundle && Recognition(blotted).core == .unknown
        return isOpaque ? blotted.prefix(100) : blotted
    }

    /// Only the beginning, which identifies the form.
    private static func blotted(_ body: Data) -> Data {
        let start = body.first == 0x30 ? body.prefix(7) : Recognition(body) == .unknown ? Data() : body.prefix(5)
        return start + Data(repeating: 0xf5, count: body.count - start.count)
    }

    private func text(_ body: Data) -> Data {
        if let json = try? JSONSerialization.jsonObject(with: body) { return Self.data(masked(json, named: "")) }
        let text = String(decoding: body, as: UTF8.self)
        if let certificate = Self.certificate(inText: text) { return Data(certificate.utf8) }
        return Data(pseudonyms.words(text, keeping: kept).utf8)
    }

    private static func data(_ json: Any) -> Data {
        (try? JSONSerialization.data(withJSONObject: json, options: [.sortedKeys, .withoutEscapingSlashes])) ?? Data()
    }

    /// - Parameter isToken: whether it is a token, whose texts are about a person.
    private func masked(_ json: Any, named name: String, isToken: Bool = false) -> Any {
        switch json {
        case let text as String:
            return isToken ? pseudonyms.value(text) : maskedText(text, named: name)
        case let list as [Any]: return list.map { masked($0, named: name, isToken: isToken) }
        case let object as [String: Any]:
            let members = object.map { member in
                let name = member.key.isPlain ? member.key : pseudonyms.value(member.key)
                return (name, masked(member.value, named: member.key, isToken: isToken))
            }
            return Dictionary(members) { first, _ in first }
        case let number as NSNumber:
            if isOpen(number, named: name) { return number }
            return 9_999_999
        default: return json
        }
    }

    private func maskedText(_ text: String, named name: String) -> String {
        if let ckc = Self.contentKeyContext(inBase64: text) { return ckc }
        if let certificate = Self.certificate(inText: text) { return certificate }
        if "{[".contains(text.first ?? " "), let json = try? JSONSerialization.jsonObject(with: Data(text.utf8)) {
            return String(decoding: Self.data(masked(json, named: name)), as: UTF8.self)
        }
        if text.hasPrefix("https://") || text.hasPrefix("http://") { return pseudonyms.url(text) }
        return redaction.isSecret(field: name) ? pseudonyms.value(text) : pseudonyms.words(text, keeping: kept)
    }

    /// Codes, periods and times are not secret; a long number may be.
    private func isOpen(_ number: NSNumber, named name: String) -> Bool {
        let isTime = ["exp", "nbf", "iat", "timestamp", "expires", "expiration"].contains(name.lowercased())
        return isTime || number.doubleValue.magnitude < 10_000_000 && !redaction.isSecret(field: name)
            || kept.words.contains(number.stringValue)
    }
}

// MARK: - Values known by their form

extension Sanitizer {
    /// The head of a CKC with its payload blotted out; `nil` if the bytes are not a CKC. A CKC of a wrong length keeps that length.
    ///
    /// Source: `Documentation/FairPlay.md` §6.
    static func contentKeyContext(_ body: Data) -> Data? {
        if case .spc = Recognition(body) { return servicePlaybackContext(body) }
        let head = [UInt8](body.prefix(28))
        guard head.count == 28, head[0...2] == [0, 0, 0], head[3] > 0, body.count <= bodyLimit else { return nil }
        return Data(head[0..<8]) + Data(count: 16) + Data(head[24..<28]) + Data(repeating: 0xa5, count: body.count - 28)
    }

    /// The lengths of an SPC that a service sent back, and its certificate.
    private static func servicePlaybackContext(_ body: Data) -> Data {
        let bytes = [UInt8](body)
        let header = bytes[3] == 2 ? 304 : 176
        let payload = Data(repeating: 0xa5, count: bytes.count - header)
        return Data(bytes[0..<8]) + Data(count: header - 32) + Data(bytes[header - 24..<header]) + payload
    }

    static func contentKeyContext(inBase64 text: String) -> String? {
        guard text.utf8.count >= 38, !text.contains(" "), let bytes = Data(lenientBase64: text) else { return nil }
        return contentKeyContext(bytes)?.base64EncodedString()
    }

    /// A certificate, without any bytes after it; `nil` for anything else, such as a private key.
    static func certificate(_ body: Data) -> Data? {
        let bytes = [UInt8](body.prefix(16))
        guard body.count <= bodyLimit, bytes.count == 16, let head = derHead(bytes[...]), head.end <= body.count,
            let inner = derHead(bytes.dropFirst(head.start)),
            let first = bytes.dropFirst(head.start + inner.start).first,
            // A version or a serial number; an encrypted private key has an algorithm there.
            first == 0xa0 || first == 0x02
        else { return nil }
        return body.prefix(head.end) + Data(repeating: 0xf5, count: body.count - head.end)
    }

    private static func certificate(inText text: String) -> String? {
        guard text.utf8.count > 300 else { return nil }
        let mark = ("-----BEGIN CERTIFICATE-----\n", "\n-----END CERTIFICATE-----\n")
        let isPEM = text.hasPrefix("-----BEGIN CERTIFICATE-----")
        let base64 = isPEM ? text.split(separator: "-----").dropFirst().first.map(String.init) ?? "" : text
        guard let bytes = Data(lenientBase64: base64), let certificate = certificate(bytes) else { return nil }
        return isPEM ? mark.0 + certificate.base64EncodedString() + mark.1 : certificate.base64EncodedString()
    }

    /// Where the contents of a SEQUENCE begin and end.
    private static func derHead(_ bytes: ArraySlice<UInt8>) -> (start: Int, end: Int)? {
        let head = Array(bytes.prefix(5))
        guard head.count == 5, head[0] == 0x30, (0x81...0x83).contains(head[1]) else { return nil }
        let start = 2 + Int(head[1] - 0x80)
        return (start, head[2..<start].reduce(0) { $0 << 8 | Int($1) } + start)
    }
}

// MARK: - Header fields and credentials

extension Sanitizer {
    private static let openFields: Set = [
        "content-type", "content-length", "date", "retry-after", "accept", "cache-control", "server",
        "www-authenticate",
    ]

    /// The value of a header field without secrets.
    func value(_ value: String, ofField name: String) -> String {
        let name = name.lowercased()
        if name == "location" { return pseudonyms.url(value) }
        let isOpen = Self.openFields.contains(name) || codeFields.contains(name) || name.hasPrefix("x-error")
        return isOpen ? pseudonyms.words(value, keeping: kept) : pseudonyms.value(value)
    }

    /// The pseudonym of a credential: in tokens of a known form, the times stay, so that advice on them does.
    func credential(_ text: String) -> String {
        if text.contains("://") { return pseudonyms.url(text) }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 3, let claims = masked(base64JSON: parts[1]) {
            let head = masked(base64JSON: parts[0]) ?? pseudonyms.value(parts[0])
            return [head, claims, pseudonyms.value(parts[2])].joined(separator: ".")
        }
        if let claims = masked(base64JSON: text) { return claims }
        return text.split(separator: "|", omittingEmptySubsequences: false).map { part in
            let isTime = part.count >= 10 && part.contains("-") && part.allSatisfy { "0123456789-:.TZ".contains($0) }
            return isTime ? String(part) : pseudonyms.value(String(part))
        }.joined(separator: "|")
    }

    private func masked(base64JSON text: String) -> String? {
        guard let bytes = Data(lenientBase64: text), bytes.first == UInt8(ascii: "{"),
            let json = try? JSONSerialization.jsonObject(with: bytes)
        else { return nil }
        return Self.data(masked(json, named: "", isToken: true)).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
