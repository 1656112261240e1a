import Foundation
import LatchkeyCore

/// A secret in every form in which it could leak.
struct SecretForms {
    private let forms: [String: String]

    init(_ secret: Data) {
        let base64 = secret.base64EncodedString()
        let urlSafe = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        var forms = [
            "base64": base64, "URL-safe base64": urlSafe, "percent-encoded base64": Self.escaped(base64),
            "hexadecimal": secret.hexString, "hexadecimal in capitals": secret.hexString.uppercased(),
            "bytes as a list": secret.map(String.init).joined(separator: ","),
            "bytes as dumped": secret.map { "-\($0)" }.joined(),
        ]
        if let text = String(data: secret, encoding: .utf8) {
            forms["plain"] = text
            forms["percent-encoded"] = Self.escaped(text)
        }
        self.forms = forms
    }

    /// The forms that stand in a text.
    func found(in text: String) -> [String] { found(in: SearchedText(text)) }

    func found(in searched: SearchedText) -> [String] {
        let (text, dense) = (searched.text, searched.dense)
        return forms.filter { text.contains($0.value) || dense.contains($0.value) }.map(\.key).sorted()
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}

/// A text, and the same without white space, made once for many secrets.
struct SearchedText {
    let text, dense: String

    init(_ text: String) {
        self.text = text
        dense = String(decoding: text.utf8.filter { $0 > 0x20 }, as: UTF8.self)
    }
}
