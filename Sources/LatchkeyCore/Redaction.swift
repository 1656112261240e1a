package import Foundation

/// Which parts of requests and replies are secret, so that logs, events and errors can show the rest.
///
/// Names match in any letter case. The value of a secret part is replaced by its length and digest.
///
/// Source: `Documentation/Vendors/README.md` §23.12.
public struct Redaction: Sendable, Hashable {
    /// Header fields whose values are secret.
    package var headers: Set<String>
    /// Query items whose values are secret.
    package var queryItems: Set<String>
    /// JSON keys and form fields whose values are secret.
    package var fields: Set<String>

    /// - Parameters:
    ///   - headers: header fields in addition to those that are always secret (`Authorization`, `Cookie`, …).
    ///   - queryItems: query items in addition to those with a telling name (`token`, `auth`, `sig`, …).
    ///   - fields: JSON keys and form fields in addition to `token`, `spc`, `payload`, `ckc`.
    public init(headers: Set<String> = [], queryItems: Set<String> = [], fields: Set<String> = []) {
        self.headers = headers
        self.queryItems = queryItems
        self.fields = fields
    }

    /// The parts that are secret for every vendor.
    package static let standard = Redaction()
}

extension Redaction {
    /// The text of a URL, with the user, the password and the values of secret query items replaced.
    package func redacted(_ url: URL) -> String { redacted(urlText: url.absoluteString) }

    /// The text of a URL, which need not be valid, with the user, the password and the values of secret query items replaced.
    package func redacted(urlText: String) -> String {
        let parts = urlText.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let base = withoutUser(String(parts.first ?? ""))
        guard parts.count > 1 else { return base }
        let items = parts[1].split(separator: "&", omittingEmptySubsequences: false).map { item -> String in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count > 1, isSecret(queryItem: String(pair[0])) else { return String(item) }
            return "\(pair[0])=\(Secret(String(pair[1])).short)"
        }
        return "\(base)?\(items.joined(separator: "&"))"
    }

    /// The value of a header field, replaced if the field is secret.
    package func redacted(_ value: String, ofHeader name: String) -> String {
        isSecret(header: name) ? Secret(value).short : value
    }

    /// Whether the value of a header field must not be shown.
    package func isSecret(header name: String) -> Bool {
        contains(Self.alwaysSecretHeaders.union(headers), name) || soundsSecret(name)
    }

    /// Whether the value of a query item must not be shown.
    package func isSecret(queryItem name: String) -> Bool { contains(queryItems, name) || soundsSecret(name) }

    /// Whether the value of a JSON key or a form field must not be shown.
    package func isSecret(field name: String) -> Bool {
        contains(Self.alwaysSecretFields.union(fields), name) || soundsSecret(name)
    }

    private static let alwaysSecretHeaders: Set = ["authorization", "cookie", "set-cookie", "proxy-authorization"]
    private static let alwaysSecretFields: Set = ["spc", "payload", "ckc", "ckcmessage", "license"]

    private func contains(_ names: Set<String>, _ name: String) -> Bool {
        names.contains { $0.caseInsensitiveEquals(name) }
    }

    private func soundsSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["token", "auth", "secret", "password", "sig", "cek", "jwt", "customdata"].contains { name.contains($0) }
    }

    private func withoutUser(_ base: String) -> String {
        guard let start = base.range(of: "://")?.upperBound else { return base }
        let authority = base[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return base }
        return base.replacingCharacters(in: start..<at, with: "‹user›")
    }
}

extension Secret {
    /// The description without blanks, for use inside a URL or a body.
    package var short: String { "‹\(count):\(digest)›" }
}
