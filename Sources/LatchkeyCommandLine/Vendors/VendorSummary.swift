import LatchkeyTerminal
import LatchkeyVendors

/// A vendor as `latchkey vendors` shows it.
struct VendorSummary: Encodable {
    let identifier, name: String
    let evidence: ProfileEvidence?
    let parameters: [Parameter]

    /// A value that the profile requires.
    struct Parameter: Encodable {
        let name, meaning: String
        let required, credential: Bool
        let example: String
    }

    init(_ profile: VendorProfile) {
        (identifier, name, evidence) = (profile.identifier, profile.name, profile.evidence)
        parameters = profile.parameters.map {
            Parameter(
                name: $0.name, meaning: $0.meaning, required: $0.isRequired, credential: $0.isCredential,
                example: $0.example)
        }
    }

    /// For people: the vendor, and a line for each parameter.
    var text: String {
        let rows = parameters.map { ["  \($0.name)", $0.required ? "required" : "", $0.meaning, $0.example] }
        let basis = evidence.map { "  (\($0.words))" } ?? ""
        return "\(identifier)  \(name)\(basis)" + (rows.isEmpty ? "" : "\n" + TextTable(rows: rows).text)
    }
}

extension ProfileEvidence {
    /// In a few words: `documented, read 2026-11-22`.
    var words: String {
        let level =
            switch level {
            case .sampleRead: "sample read"
            case .documented: "documented, read"
            case .requestsAgree: "recorded requests agree,"
            }
        return "\(level) \(read)"
    }
}
