import LatchkeyTerminal

/// `latchkey completions`: what a shell proposes behind the tool's name.
struct CompletionsVerb: Verb {
    /// All verbs of the tool, this one among them.
    let verbs: @Sendable () -> [any Verb]

    private let shell = Positional(
        "SHELL", CompletionShell.allCases.map(\.rawValue).joined(separator: ", "),
        .words(CompletionShell.allCases.map(\.rawValue)))

    var usage: Usage {
        Usage(
            name: "completions", summary: "print the completions for bash, zsh or fish",
            details: """
                make install puts them where the shells look. Elsewhere load them when the shell starts, or write them into its folder
                for completions.
                """,
            positionals: [shell],
            examples: [
                "source <(latchkey completions bash)",
                "latchkey completions zsh > ~/.zfunc/_latchkey",
                "latchkey completions fish > ~/.config/fish/completions/latchkey.fish",
            ])
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        guard let shell = CompletionShell(rawValue: arguments[shell]) else {
            let words = CompletionShell.allCases.map(\.rawValue)
            throw UsageError("SHELL is one of \(words.joined(separator: ", ")), not \(quoted(arguments[shell])).")
        }
        console.print(shell.script(for: verbs().map(\.usage)))
        return .yes
    }
}
