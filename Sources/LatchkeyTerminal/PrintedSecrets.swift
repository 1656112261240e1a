import Foundation
import LatchkeyCore

/// Removes secrets from all output of a tool: the secrets that it was given, wherever they occur, and the values that URLs
/// mark as secret by name.
///
/// All output passes through this one place, after the redaction of a verb, a report or a page. Copies of a console share it,
/// so that an error's text does not show a secret that the verb was given.
package final class PrintedSecrets: Sendable {
    private struct State {
        var isRevealing = false
        /// Each form in which a secret may occur in a text, the longest first, with its replacement.
        var texts: [(text: String, shown: String)] = []
    }

    private let state = Locked(State())
    /// A shorter text is too likely to occur by chance; names still hide it.
    private static let shortest = 8

    package init() {}

    /// Shows everything from now on, because the user asked for it or the verb's purpose is to print a secret.
    package func reveal() { state.withLock { $0.isRevealing = true } }

    /// Hides a secret from now on, including its forms in a URL, JSON and base64.
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

    /// Hides the arguments that are secret by their name.
    func hide(in arguments: Arguments) {
        for case let value as NamedValue in arguments.values.values.joined() {
            let redaction = Redaction.standard
            guard redaction.isSecret(field: value.name) || redaction.isSecret(header: value.name) else { continue }
            hide(Secret(value.value))
        }
    }

    /// A text with its secrets replaced.
    func shown(_ text: String) -> String {
        let state = state.withLock { $0 }
        guard !state.isRevealing else { return text }
        let hidden = state.texts.reduce(text) { $0.contains($1.text) ? $0.replacing($1.text, with: $1.shown) : $0 }
        return Redaction.standard.redacted(prose: hidden)
    }
}
