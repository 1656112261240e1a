import LatchkeyForms

/// A decision that a policy has to make: the test in its file.
struct PolicyExample: Sendable, Equatable {
    package var facts = Facts()
    /// `license`, `acknowledge`, or a refusal's code.
    var expect = ""

    static let form: ObjectForm<PolicyExample> = ObjectForm(
        empty: PolicyExample(),
        members: [.required("facts", \.facts, Facts.form.form), .required("expect", \.expect, .decisionWord)])
}

extension JSONForm where Value == String {
    private static let words: [String] =
        ["license", "acknowledge", "tokenExpired", "tokenMalformed", "tokenUsed", "notCovered", "sessionLimit"]
        + PolicyObjection.allCases.filter { $0 != .stopping }.map(\.rawValue)

    fileprivate static let decisionWord = JSONForm(
        words: words, read: { words.contains($0) ? $0 : nil }, write: { $0 })
}
