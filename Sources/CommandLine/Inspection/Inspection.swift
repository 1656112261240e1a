/// What a file holds: as JSON for tools, and as lines for people.
protocol Inspection: Encodable, Sendable {
    /// The facts, each with its name.
    var facts: [(name: String, value: String)] { get }
    /// What is odd about it without making it useless.
    var warnings: [String] { get }
}

extension Inspection {
    var text: String {
        let width = facts.map(\.name.count).max() ?? 0
        let lines = facts.map { fact in
            let indented = fact.value.split(separator: "\n", omittingEmptySubsequences: false)
                .joined(separator: "\n" + String(repeating: " ", count: width + 2))
            return fact.name + String(repeating: " ", count: width - fact.name.count + 2) + indented
        }
        return (lines + warnings.map { "Warning: \($0)" }).joined(separator: "\n")
    }
}
