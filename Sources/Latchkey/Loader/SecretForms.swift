import Foundation
package import LatchkeyCore
import LatchkeyVendors

/// Every form in which secrets may appear in a text: as they are, percent-encoded, escaped for JSON, in base64, in hexadecimal.
///
/// A service may wrap a token that it sends back in any of these; an error or an event must not show it.
package struct SecretForms: Sendable {
    private let secrets: Set<Secret>

    /// The shortest secret that is searched for inside base64 and hexadecimal, and removed from output: 6 characters. A shorter one would
    /// be found by chance.
    private static let shortest = 6

    /// How much shorter than a secret its base64 may be, if only the characters count that depend on it alone.
    private static let slack = 4

    package init(_ secrets: [Secret]) { self.secrets = Set(secrets) }

    /// The forms of the secrets that fit into a text, longest first, as otherwise the rest of one would stay.
    ///
    /// An SPC has kilobytes and no place in the words of an error; making its forms for them is not worthwhile.
    private func texts(fitting length: Int) -> [String] {
        Set(secrets.filter { $0.count <= length + Self.slack }.flatMap(Self.forms)).subtracting([""])
            .sorted { $0.utf8.count > $1.utf8.count }
    }

    /// The text with each secret replaced.
    package func scrubbed(_ text: String) -> String {
        texts(fitting: text.utf8.count).filter { $0.utf8.count >= Self.shortest }.reduce(text) {
            $0.replacingOccurrences(of: $1, with: "‹secret›", options: .literal)
        }
    }

    /// Whether bytes hold a secret in one of its forms.
    func areFound(in data: Data?) -> Bool {
        guard let data, !data.isEmpty else { return false }
        return texts(fitting: data.count).contains { data.range(of: Data($0.utf8)) != nil }
    }

    private static func forms(of secret: Secret) -> [String] {
        let bytes = secret.revealed
        var forms: [String] = []
        if let text = String(data: bytes, encoding: .utf8) {
            let json = text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
            forms += [text, text.percentEncoded, json, json.replacingOccurrences(of: "/", with: "\\/")]
        }
        guard bytes.count >= shortest else { return forms }
        let base64 = (0...2).map { self.base64(of: bytes, behind: $0) }
        forms += base64 + base64.map(\.percentEncoded) + base64.map { $0.replacingOccurrences(of: "/", with: "\\/") }
        forms += base64.map { $0.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_") }
        return forms + [bytes.hexString, bytes.hexString.uppercased()]
    }

    /// The characters of base64 that depend on these bytes alone, if a number of other bytes, modulo 3, precedes them.
    private static func base64(of bytes: Data, behind count: Int) -> String {
        let text = (Data(count: count) + bytes).base64EncodedString().filter { $0 != "=" }
        let isOpenEnded = (count + bytes.count) % 3 != 0
        return String(text.dropFirst([0, 2, 3][count]).dropLast(isOpenEnded ? 1 : 0))
    }
}
