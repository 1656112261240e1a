/// One thing that a program does: `latchkey play …`, or all that it does: `latchkey-bench …`.
package protocol Verb: Sendable {
    /// Its name, arguments and results.
    var usage: Usage { get }
    /// Whether it is there to print secrets, or texts of its own with places for them, so that nothing is hidden. Defaults to no.
    var printsSecrets: Bool { get }

    /// Does the work. Writes results to the console's output, and everything else to its error stream.
    ///
    /// - Throws: `UsageError` if the arguments do not fit together; any other error if the work fails.
    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus
}

extension Verb {
    package var printsSecrets: Bool { false }
}

/// A verb's description, from which its arguments are parsed and its help is written.
package struct Usage: Sendable {
    /// The program that has the verb.
    package let program: String
    /// The words behind the program's name, such as `vendors show`; empty if the program has no verbs.
    package let name: String
    /// What it does, in one line that begins with a lower-case verb.
    package let summary: String
    /// What the options do not say; may be empty.
    package let details: String
    /// The arguments without a name, in order.
    package let positionals: [Positional]
    /// The options and flags, in the order of the help.
    package let options: [any Parameter]
    /// Command lines that work.
    package let examples: [String]
    /// What exit status 0 means here.
    package let yes: String
    /// What exit status 1 means here.
    package let no: String
    /// What exit status 3 means here; `nil` if the verb never ends with it.
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

/// What the exit status says.
package enum ExitStatus: Int32, Sendable {
    /// Done; the answer is yes.
    case yes = 0
    /// Refused or failed; the answer is no.
    case no = 1
    /// The arguments are wrong; nothing was done.
    case usage = 2
    /// Not enough was seen to say yes or no.
    case unknown = 3
}
