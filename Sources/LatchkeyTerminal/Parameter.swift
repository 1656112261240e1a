/// An option or a flag, with the type of its value erased.
package protocol Parameter: Sendable {
    /// The name with its two dashes.
    var name: String { get }
    /// The placeholder of the value, such as `DIR`; `nil` for a flag.
    var placeholder: String? { get }
    /// Its effect, in a few words.
    var help: String { get }
    var isRequired: Bool { get }
    var isRepeatable: Bool { get }
    /// The number of words in its value.
    var wordCount: Int { get }
    /// A shell's suggestions for the value.
    var completion: Completion { get }
    /// Parses the value.
    func parse(_ text: String) throws(UsageError) -> any Sendable
}

/// An option with a value: `--name VALUE` or `--name=VALUE`.
package struct Option<Value: Sendable>: Parameter {
    /// How often an option may occur on a command line.
    package enum Presence: Sendable { case optional, required, repeatable, atLeastOnce }

    package let name: String
    package let form: ValueForm<Value>
    package let help: String
    package let presence: Presence

    package init(_ name: String, _ form: ValueForm<Value>, _ help: String, _ presence: Presence = .optional) {
        self.name = "--\(name)"
        self.form = form
        self.help = help
        self.presence = presence
    }

    package var placeholder: String? { form.placeholder }
    package var isRequired: Bool { presence == .required || presence == .atLeastOnce }
    package var isRepeatable: Bool { presence == .repeatable || presence == .atLeastOnce }
    package var wordCount: Int { form.wordCount }
    package var completion: Completion { form.completion }
    package func parse(_ text: String) throws(UsageError) -> any Sendable { try form.parse(text) }
}

/// An option without a value.
package struct Flag: Parameter {
    package let name: String
    package let help: String

    package init(_ name: String, _ help: String) {
        self.name = "--\(name)"
        self.help = help
    }

    package var placeholder: String? { nil }
    package var isRequired: Bool { false }
    package var isRepeatable: Bool { false }
    package var wordCount: Int { 0 }
    package var completion: Completion { .none }
    package func parse(_ text: String) throws(UsageError) -> any Sendable { true }

    /// Shared by all verbs that print facts: with it, a failure is printed as JSON too.
    package static let json = Flag("json", "print the facts, or the failure, as JSON")
}

/// An argument identified by its position.
package struct Positional: Sendable {
    /// How often it may occur; only the last of a verb may differ from `once`.
    package enum Presence: Sendable { case once, optional, atLeastOnce }

    /// Its name in the help, in capitals.
    package let name: String
    /// Its meaning, in a few words.
    package let help: String
    /// A shell's suggestions for it.
    package let completion: Completion
    package let presence: Presence

    package init(_ name: String, _ help: String, _ completion: Completion = .files, _ presence: Presence = .once) {
        self.name = name
        self.help = help
        self.completion = completion
        self.presence = presence
    }

    /// Its form in the usage line.
    package var placeholder: String {
        switch presence {
        case .once: name
        case .optional: "[\(name)]"
        case .atLeastOnce: "\(name)…"
        }
    }
}

/// A shell's suggestions for a value.
package enum Completion: Sendable, Equatable {
    /// Nothing.
    case none
    /// The names of files and folders.
    case files
    /// Some words.
    case words([String])
}
