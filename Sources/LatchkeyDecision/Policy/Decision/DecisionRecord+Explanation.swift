import Foundation
import LatchkeyCore
import LatchkeyForms

extension KeyOrigin {
    /// A note to operators about a key that came from an unusual place; `nil` for the usual one.
    package var words: String? {
        switch self {
        case .store, .memory: nil
        case .stale: "from the cache: the key store did not answer"
        case .copy: "from the node's copy: the key store did not answer"
        case .unlisted: "derived, never packaged here: the store has no row for it, and the tenant derives such keys"
        }
    }
}

extension DecisionRecord {
    /// The decision and its reasons, in lines for people.
    package var explanation: String {
        var lines = [
            "\(word), by the policy \(policyName.map { "“\($0)”" } ?? "without a name") (\(policyDigest.prefix(12)))"
        ]
        if let requestID { lines.append("Request   \(requestID.onOneLine)") }
        lines.append("Account   \(facts.grant.account.onOneLine)")
        lines += facts.account.blocks.map { block in
            "Block     of the \(block.subject.kind.rawValue), by \(block.by.onOneLine), \(DateText.text(block.since)): \(block.reason.onOneLine)"
        }
        lines.append("Content   \(facts.key.content.onOneLine), \(facts.key.track.rawValue)")
        if facts.request.drm != .fairPlay { lines.append("DRM       \(facts.request.drm.label)") }
        if let words = facts.key.origin?.words { lines.append("Key       \(words)") }
        for member in ["reason", "remedy"] {
            guard let text = outcome["refusal"]?[member]?.text else { continue }
            lines.append(member == "reason" ? "Reason    \(text)" : "Remedy    \(text)")
        }
        if let terms = outcome["terms"] { lines.append("Terms     \(terms.canonicalText)") }
        if let after = outcome["renewAfter"]?.text { lines.append("Renewal   after \(after)") }
        if let kind = outcome["change"]?["kind"]?.text, kind != "none" { lines.append("Session   \(kind)") }
        if case .array(let notes)? = outcome["notes"], !notes.isEmpty {
            lines.append("Notes")
            lines += notes.map { "  \($0["code"]?.text ?? ""): \($0["text"]?.text ?? "")" }
        }
        return lines.joined(separator: "\n")
    }
}
