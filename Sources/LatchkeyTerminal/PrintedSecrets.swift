import Foundation
import LatchkeyCore

/// Takes secrets out of all that a tool prints: those that it was given, wherever they stand, and those that URLs show by their names.
///
/// The one place that everything printed goes through. What a verb, a report or a page redacts by itself comes before it and stays. Copies of a
/// console share it, so that an error's text loses a secret that the verb was given.
package final class PrintedSecrets: Sendable {
    private struct State {
        var isRevealing = false
        /// Each form in which a secret may stand in a text, the longest first, and what is shown for it.
        var texts: [(text: String, shown: String)] = []
    }

    private let state = Locked(State())
    /// A shorter text is too likely to stand somewhere by chance; names still hide it.
    private static let shortest = 8

    package init() {}

    /// Shows everything from now on: the user asked for it, or the verb is there to print a secret.
    package func reveal() { state.withLock { $0.isRevealing = true } }

    /// Hides a secret from now on, in the forms that a URL, JSON and base64 give it.
    func hide(_ secret: Secret) {
        guard secret.count >= Self.shortest else { return }
        let text = secret.revealedText
        let base64 = secret.revealed.base64EncodedString()
        let urlSafe = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let json = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        let forms = Set([text, json, escaped, base64, urlSafe, text.visible, json.visible])
        state.withLock { state in
            state.texts += forms.map { ($0, secret.short) }
            state.texts.sort { $0.text.utf8.count > $1.text.utf8.count }
        }
    }

    /// Hides those of a verb's arguments that are secret by their name.
    func hide(in arguments: Arguments) {
        for case let value as NamedValue in arguments.values.values.joined() {
            let redaction = Redaction.standard
            guard redaction.isSecret(field: value.name) || redaction.isSecret(header: value.name) else { continue }
            hide(Secret(value.value))
        }
    }

    /// What is printed of a text.
    func shown(_ text: String) -> String {
        let state = state.withLock { $0 }
        guard !state.isRevealing else { return text }
        let hidden = state.texts.reduce(text) { $0.contains($1.text) ? $0.replacing($1.text, with: $1.shown) : $0 }
        return Redaction.standard.redacted(prose: hidden)
    }
}
