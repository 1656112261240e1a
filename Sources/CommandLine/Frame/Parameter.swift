/// An option or a flag, with the type of its value erased.
protocol Parameter: Sendable {
    /// The name with its two dashes.
    var name: String { get }
    /// What to write for the value, such as `DIR`; nil for a flag.
    var placeholder: String? { get }
    /// What it does, in a few words.
    var help: String { get }
    var isRequired: Bool { get }
    var isRepeatable: Bool { get }
    /// How many words its value takes.
    var wordCount: Int { get }
    /// Reads the value.
    func parse(_ text: String) throws(BadValue) -> any Sendable
}

/// An option with a value: `--name VALUE` or `--name=VALUE`.
struct Option<Value: Sendable>: Parameter {
    /// How often an option may stand on a command line.
    enum Presence: Sendable { case optional, required, repeatable, atLeastOnce }

    let name: String
    let form: ValueForm<Value>
    let help: String
    let presence: Presence

    init(_ name: String, _ form: ValueForm<Value>, _ help: String, _ presence: Presence = .optional) {
        self.name = "--\(name)"
        self.form = form
        self.help = help
        self.presence = presence
    }

    var placeholder: String? { form.placeholder }
    var isRequired: Bool { presence == .required || presence == .atLeastOnce }
    var isRepeatable: Bool { presence == .repeatable || presence == .atLeastOnce }
    var wordCount: Int { form.wordCount }
    func parse(_ text: String) throws(BadValue) -> any Sendable { try form.parse(text) }
}

/// An option without a value: it is there or not.
struct Flag: Parameter {
    let name: String
    let help: String

    init(_ name: String, _ help: String) {
        self.name = "--\(name)"
        self.help = help
    }

    var placeholder: String? { nil }
    var isRequired: Bool { false }
    var isRepeatable: Bool { false }
    var wordCount: Int { 0 }
    func parse(_ text: String) throws(BadValue) -> any Sendable { true }

    /// Shared by all verbs that print facts: with it a failure is JSON too.
    static let json = Flag("json", "print the facts, or the failure, as JSON")
}

/// An argument that is known by its place.
struct Positional: Sendable {
    /// What the help calls it, in capitals.
    let name: String
    /// What it is, in a few words.
    let help: String

    init(_ name: String, _ help: String) {
        self.name = name
        self.help = help
    }
}
