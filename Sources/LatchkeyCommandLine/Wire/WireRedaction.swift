import Foundation
import LatchkeyCore
import LatchkeyTerminal
import LatchkeyVendors

/// Removes the secrets from a request: by the names of its parts, and wherever else a known secret occurs.
struct WireRedaction: Sendable {
    private let redaction: Redaction
    /// Every form in which a known secret may occur in a text, the longest first.
    private let texts: [(text: String, shown: String)]

    /// - Parameters:
    ///   - redaction: the profile's.
    ///   - credentials: secrets that are text.
    ///   - spc: the SPC, which is binary.
    init(_ redaction: Redaction, credentials: [Secret], spc: Secret?) {
        self.redaction = redaction
        let fromText = credentials.filter { $0.count >= Self.shortest }.flatMap { secret in
            let text = secret.revealedText
            let json = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return ([text, json] + Self.base64(secret)).map { ($0, secret.short) }
        }
        let fromSPC = spc.map { secret in Self.base64(secret).map { ($0, secret.short) } } ?? []
        let all = (fromText + fromSPC).flatMap { [$0, ($0.0.percentEncoded, $0.1)] }
        texts = all.map { (text: $0.0, shown: $0.1) }.sorted { $0.text.count > $1.text.count }
    }

    /// A shorter text is too likely to occur by chance; names still hide it.
    private static let shortest = 6

    private static func base64(_ secret: Secret) -> [String] {
        let text = secret.revealed.base64EncodedString()
        guard !text.isEmpty else { return [] }
        return [text, text.replacing("+", with: "-").replacing("/", with: "_")]
    }

    /// A text with known secrets, and secrets in its URLs, replaced.
    func text(_ text: String) -> String {
        redaction.redacted(prose: texts.reduce(text) { $0.replacing($1.text, with: $1.shown) })
    }

    /// A service's words: with known secrets replaced, and with any text that only looks like a secret, because services repeat the values
    /// sent to them. A key ID stays.
    func words(_ words: String) -> String {
        let named = text(words).replacing(/([A-Za-z0-9_.\-]+)("?[=:]"?)(?!\/\/)([^"&,;{}\[\]\s]+)/) { match in
            let name = String(match.1)
            guard redaction.isSecret(field: name) || redaction.isSecret(queryItem: name) else { return String(match.0) }
            return "\(name)\(match.2)\(Secret(String(match.3)).short)"
        }
        let bearer = named.replacing(/([Bb]earer )([A-Za-z0-9+\/=_.\-|]{4,})/) {
            "\($0.1)\(Secret(String($0.2)).short)"
        }
        return redaction.redacted(words: bearer)
    }

    func url(_ url: String) -> String { text(redaction.redacted(urlText: url)) }
    func header(_ name: String, _ value: String) -> String { text(redaction.redacted(value, ofHeader: name)) }

    /// A body with its secrets replaced; a body that is neither text nor a known form is replaced by its length.
    func body(_ body: Data, contentType: String) -> String {
        guard let content = String(data: body, encoding: .utf8) else { return Secret(body).short }
        if let json = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed),
            let written = try? JSONSerialization.data(
                withJSONObject: shown(json, isSecret: false),
                options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        {
            return String(decoding: written, as: UTF8.self)
        }
        if contentType.hasPrefix("application/x-www-form-urlencoded") { return text(form(content)) }
        if contentType.hasPrefix("multipart/") { return text(multipart(content)) }
        return content.unicodeScalars.contains { $0.value < 0x20 && !"\r\n\t".unicodeScalars.contains($0) }
            ? Secret(body).short : text(content)
    }

    private func shown(_ json: Any, isSecret: Bool) -> Any {
        switch json {
        case let object as [String: Any]:
            Dictionary(
                uniqueKeysWithValues: object.map { name, value in
                    (name, shown(value, isSecret: isSecret || redaction.isSecret(field: name)))
                })
        case let array as [Any]: array.map { shown($0, isSecret: isSecret) }
        case let text as String: isSecret ? Secret(text).short : self.text(text)
        default: json
        }
    }

    private func form(_ content: String) -> String {
        let fields = content.split(separator: "&", omittingEmptySubsequences: false).map { field -> String in
            let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = pair.first?.removingPercentEncoding ?? ""
            guard pair.count == 2, redaction.isSecret(field: name) || redaction.isSecret(queryItem: name) else {
                return String(field)
            }
            return "\(pair[0])=\(Secret(String(pair[1])).short)"
        }
        return fields.joined(separator: "&")
    }

    /// The value of a part is on the line after the blank one; the profile engine writes no others.
    private func multipart(_ content: String) -> String {
        var name: String?
        var isValue = false
        let lines = content.components(separatedBy: "\r\n").map { line -> String in
            if let start = line.range(of: "; name=\"")?.upperBound {
                name = String(line[start...].prefix { $0 != "\"" })
            } else if line.isEmpty {
                isValue = true
            } else if isValue {
                isValue = false
                return name.map(redaction.isSecret(field:)) == true ? Secret(line).short : line
            }
            return line
        }
        return lines.joined(separator: "\r\n")
    }
}
