extension Int {
    /// A number of things as text: `1 day`, `12 days`.
    /// - Parameters:
    ///   - noun: one of them.
    ///   - plural: any other number of them. Defaults to the noun with an `s`.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? noun : plural ?? noun + "s")"
    }
}
