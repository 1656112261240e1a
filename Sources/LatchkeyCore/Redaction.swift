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
    ///   - headers: header fields in addition to the fields that are always secret (`Authorization`, `Cookie`, …).
    ///   - queryItems: query items in addition to those with a telling name (`token`, `auth`, `sig`, …). They are secret in a path and a fragment,
    ///     too.
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
    /// The text of a URL without its secrets, wherever they are: `Documentation/Redaction.md` has the grammar.
    package func redacted(_ url: URL) -> String { redacted(urlText: url.absoluteString) }

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

    /// Parts of a name that make its value secret, in lowercase and without `-` and `_`.
    private static let secretNames = [
        "token", "auth", "secret", "passw", "pwd", "sig", "hmac", "hdnts", "hdnea", "hdntl", "cek", "jwt", "apikey",
        "customdata", "credential", "assertion", "ticket", "sessionid", "hash",
    ].map { Array($0.utf8) }

    func soundsSecret(_ name: String) -> Bool {
        let letters = name.utf8.filter { $0 != 0x2d && $0 != 0x5f }.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        return letters.indices.contains { start in
            Self.secretNames.contains { letters[start...].starts(with: $0) }
        }
    }
}

extension Secret {
    /// The description without blanks, for use inside a URL or a body.
    package var short: String { "‹\(count):\(digest)›" }
}

extension StringProtocol {
    /// Whether redaction wrote this in place of a secret: `‹12:0a1b2c›`, `‹user›`, `‹secret›`, `‹70 characters›`.
    package var isRedacted: Bool {
        guard hasPrefix("‹"), hasSuffix("›") else { return false }
        let inner = dropFirst().dropLast()
        if inner == "user" || inner == "secret" { return true }
        let rest = inner.drop(while: \.isNumber)
        guard (1...7).contains(inner.count - rest.count) else { return false }
        return rest == " characters"
            || rest.count == 7 && rest.hasPrefix(":") && rest.dropFirst().allSatisfy(\.isHexDigit)
    }
}
