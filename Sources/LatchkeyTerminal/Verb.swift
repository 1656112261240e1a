/// One of a program's commands, such as `latchkey play …`, or its only one: `latchkey-bench …`.
package protocol Verb: Sendable {
    /// Its name, arguments and results.
    var usage: Usage { get }
    /// Whether its purpose is to print secrets, or its own texts with placeholders for them, so that nothing is hidden. Defaults to no.
    var printsSecrets: Bool { get }

    /// Does the work. Writes results to the console's output, and everything else to its error stream.
    ///
    /// - Throws: `UsageError` for an invalid combination of arguments; any other error if the work fails.
    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus
}

extension Verb {
    package var printsSecrets: Bool { false }
}

/// A verb's description. Its arguments are parsed and its help is generated from it.
package struct Usage: Sendable {
    /// The program that has the verb.
    package let program: String
    /// The words after the program's name, such as `vendors show`; empty if the program has no verbs.
    package let name: String
    /// Its effect, in one line that begins with a lower-case verb.
    package let summary: String
    /// Information beyond the options; may be empty.
    package let details: String
    /// The arguments without a name, in order.
    package let positionals: [Positional]
    /// The options and flags, in the order of the help.
    package let options: [any Parameter]
    /// Working command lines.
    package let examples: [String]
    /// The meaning of exit status 0.
    package let yes: String
    /// The meaning of exit status 1.
    package let no: String
    /// The meaning of exit status 3; `nil` if the verb never returns it.
    package let unknown: String?

    package init(
        program: String = "latchkey", name: String = "", summary: String, details: String = "",
        positionals: [Positional] = [], options: [any Parameter] = [], examples: [String] = [], yes: String = "done",
        no: String = "refused or failed; the reason is on standard error, with --json on standard output",
        unknown: String? = nil
    ) {
        self.program = program
        self.name = name
        self.summary = summary
        self.details = details
        self.positionals = positionals
        self.options = options
        self.examples = examples
        self.yes = yes
        self.no = no
        self.unknown = unknown
    }

    /// The words that begin the command line: `latchkey play`, `latchkey-bench`.
    package var command: String { name.isEmpty ? program : "\(program) \(name)" }
}

/// The meaning of the exit status.
package enum ExitStatus: Int32, Sendable {
    /// Done; the answer is yes.
    case yes = 0
    /// Refused or failed; the answer is no.
    case no = 1
    /// The arguments are wrong; nothing was done.
    case usage = 2
    /// There was not enough evidence for yes or no.
    case unknown = 3
}
