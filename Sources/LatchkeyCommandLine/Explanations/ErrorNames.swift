import Latchkey
import LatchkeyCore

/// Finds errors by their names in code, such as `AVErrorContentIsNotAuthorized` or `LICENSE_REQUEST_FAILED`.
enum ErrorNames {
    /// Every explanation of a name; none for an unknown one.
    static func explanations(of text: String) -> [NumberExplanation] {
        let name = plain(text)
        guard !name.isEmpty else { return [] }
        let kind = Diagnosis.Kind(rawValue: text)
        let own = kind.number > 1 ? [NumberExplanation(kind)] : []
        return (known[name] ?? []).map(NumberExplanation.init) + own
    }

    /// The name without its prefix in code: `AVError.Code.unknown` and `AVErrorUnknown` are the same.
    private static func plain(_ text: String) -> String {
        var name = text.lowercased()[...]
        var isShorter = true
        while isShorter {
            isShorter = false
            for prefix in ["averror", "nsurlerror", "urlerror", "code.", ".", "drm."] where name.hasPrefix(prefix) {
                name = name.dropFirst(prefix.count)
                isShorter = true
            }
        }
        return String(name)
    }

    /// Names that occur in code; the others are words for people.
    private static let known = Dictionary(
        grouping: (FairPlayErrorExplanation.all + FairPlayErrorExplanation.elsewhere).filter { !$0.name.contains(" ") },
        by: { $0.name.lowercased() })
}
