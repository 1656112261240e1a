/// `latchkey completions`: a shell's suggestions after a program's name.
package struct CompletionsVerb: Verb {
    private let program: String
    private let verbs: @Sendable () -> [any Verb]

    private let shell = Positional(
        "SHELL", CompletionShell.allCases.map(\.rawValue).joined(separator: ", "),
        .words(CompletionShell.allCases.map(\.rawValue)))

    /// - Parameters:
    ///   - program: the program's name. Defaults to `latchkey`.
    ///   - verbs: all its verbs, including this one.
    package init(of program: String = "latchkey", _ verbs: @escaping @Sendable () -> [any Verb]) {
        (self.program, self.verbs) = (program, verbs)
    }

    package var printsSecrets: Bool { true }

    package var usage: Usage {
        Usage(
            program: program, name: "completions", summary: "print the completions for bash, zsh or fish",
            details: """
                make install puts them where the shells look. Elsewhere load them when the shell starts, or write them into its folder
                for completions.
                """,
            positionals: [shell],
            examples: [
                "source <(\(program) completions bash)",
                "\(program) completions zsh > ~/.zfunc/_\(program)",
                "\(program) completions fish > ~/.config/fish/completions/\(program).fish",
            ])
    }

    package func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        guard let shell = CompletionShell(rawValue: arguments[shell]) else {
            let words = CompletionShell.allCases.map(\.rawValue)
            throw UsageError("SHELL is one of \(words.joined(separator: ", ")), not \(quoted(arguments[shell])).")
        }
        console.print(shell.script(for: program, verbs().map(\.usage)))
        return .yes
    }
}
