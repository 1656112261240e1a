/// A number of which nothing is known, under the domain that it has.
struct UnknownNumber: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    /// As the log has it.
    let domain: String

    var description: String {
        let elsewhere = NumberExplanation.all(of: number).prefix(2).map { $0.name }
        let hint = elsewhere.isEmpty ? "" : "; in other domains it is \(elsewhere.joined(separator: " or "))"
        return "Nothing is known of \(number) of \(domain.prefix(60))\(hint)."
    }
}
