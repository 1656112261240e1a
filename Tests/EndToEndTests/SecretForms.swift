import Foundation
import LatchkeyCore

/// A secret in all forms in which it could leak.
struct SecretForms {
    private let forms: [String: String]

    init(_ secret: Data) {
        let base64 = secret.base64EncodedString()
        let urlSafe = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let hexadecimal = secret.hexString
        // If the list of all bytes is visible, so is the list of the first bytes.
        let start = secret.prefix(48)
        var forms = [
            "base64": base64, "URL-safe base64": urlSafe, "percent-encoded base64": Self.escaped(base64),
            "hexadecimal": hexadecimal, "hexadecimal in capitals": hexadecimal.uppercased(),
            "bytes as a list": start.map(String.init).joined(separator: ","),
            "bytes as dumped": start.map { "-\($0)" }.joined(),
        ]
        if let text = String(data: secret, encoding: .utf8) {
            forms["plain"] = text
            forms["percent-encoded"] = Self.escaped(text)
        }
        self.forms = forms
    }

    /// The forms that a text contains.
    func found(in text: String) -> [String] { found(in: SearchedText(text)) }

    func found(in searched: SearchedText) -> [String] {
        forms.filter { searched.contains($0.value) }.map(\.key).sorted()
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}

/// A text, with and without white space, prepared once for many secrets.
struct SearchedText {
    private let text, dense: [CChar]

    init(_ text: String) {
        let characters = text.utf8.map { CChar(bitPattern: $0 == 0 ? 0x20 : $0) }
        self.text = characters + [0]
        dense = characters.filter { $0 > 0x20 || $0 < 0 } + [0]
    }

    func contains(_ part: String) -> Bool { strstr(text, part) != nil || strstr(dense, part) != nil }
}
