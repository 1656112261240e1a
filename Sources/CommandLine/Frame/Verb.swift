/// One thing that the tool does: `latchkey NAME …`.
protocol Verb: Sendable {
    /// What it is called, takes and gives.
    var usage: Usage { get }

    /// Does it. Results go to the console's output, everything else to its error stream.
    ///
    /// - Throws: `UsageError` where the arguments do not fit together, any other error where it failed.
    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus
}

/// A verb's description, from which its arguments are parsed and its help is written.
struct Usage: Sendable {
    /// The word on the command line.
    let name: String
    /// What it does, in one line that begins with a lower-case verb.
    let summary: String
    /// What one has to know beyond the options; may be empty.
    var details = ""
    /// The arguments without a name, in order.
    var positionals: [Positional] = []
    /// The options and flags, in the order of the help.
    var options: [any Parameter] = []
    /// Command lines that work.
    var examples: [String] = []
    /// What exit status 0 means here.
    var yes = "done"
    /// What exit status 1 means here.
    var no = "refused or failed; the reason is on standard error, with --json on standard output"
}
