extension Int {
    /// A count with its noun: `1 day`, `12 days`.
    /// - Parameters:
    ///   - noun: the singular.
    ///   - plural: the plural. Defaults to the noun with an `s`.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? noun : plural ?? noun + "s")"
    }
}
