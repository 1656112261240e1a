/// Completions for bash.
struct BashCompletions {
    private let program: String
    private let verbs: [Usage]

    init(_ program: String, _ verbs: [Usage]) { (self.program, self.verbs) = (program, verbs) }

    var text: String {
        """
        # bash completions of \(program); written by: \(program) completions bash
        \(function)() {
            local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=
            COMPREPLY=()
            if [ "$COMP_CWORD" -eq 1 ]; then
                COMPREPLY=( $(compgen -W \(quoted(verbs.firstWords.map(\.word) + ["--help", "--version"])) -- "$cur") )
                return
            fi
            case "${COMP_WORDS[1]} ${COMP_WORDS[2]} " in
        \(verbs.longestFirst.map { "        \"\($0.name) \"*) verb=\"\($0.name)\" ;;" }.joined(separator: "\n"))
        \(verbs.groups.map(branch).joined(separator: "\n"))
                "help "*) COMPREPLY=( $(compgen -W \(quoted(verbs.firstWords.map(\.word) + ["--man"])) -- "$cur") ); return ;;
            esac
            case "$verb" in
        \(verbs.map(branch).joined(separator: "\n"))
            esac
        }
        complete -F \(function) \(program)
        """
    }

    private var function: String { "_\(program.replacing("-", with: "_"))" }

    private func branch(_ word: String, _ verbs: [Usage]) -> String {
        let seconds = verbs.map { $0.words[1] }
        return "        \"\(word) \"*) [ \"$COMP_CWORD\" -ne 2 ] || \(proposal(.words(seconds))); return ;;"
    }

    private func branch(_ usage: Usage) -> String {
        let values = usage.options.filter { $0.placeholder != nil }.map { option in
            "        \(option.name)) \(proposal(option.completion)); return ;;"
        }
        let seconds = verbs.map(\.words).filter { $0.count > 1 && $0.first == usage.name }.map { $0[1] }
        let words =
            seconds
            + usage.positionals.flatMap { position -> [String] in
                if case .words(let words) = position.completion { words } else { [] }
            }
        let takesFiles = usage.positionals.contains { $0.completion == .files }
        var lines = ["    \"\(usage.name)\")", "        case \"$prev\" in"] + values + ["        esac"]
        lines.append("        case \"$cur\" in")
        lines.append("        -*) \(proposal(.words(usage.allOptions.map(\.name)))) ;;")
        lines.append("        *) \(takesFiles ? files(beside: words) : proposal(.words(words))) ;;")
        return (lines + ["        esac ;;"]).joined(separator: "\n")
    }

    private func files(beside words: [String]) -> String {
        words.isEmpty
            ? proposal(.files)
            : "COMPREPLY=( $(compgen -W \(quoted(words)) -- \"$cur\") $(compgen -f -- \"$cur\") )"
    }

    private func proposal(_ completion: Completion) -> String {
        switch completion {
        case .none: ":"
        case .files: "compopt -o filenames; COMPREPLY=( $(compgen -f -- \"$cur\") )"
        case .words(let words): "COMPREPLY=( $(compgen -W \(quoted(words)) -- \"$cur\") )"
        }
    }

    /// The words of the tool are letters, digits and dashes.
    private func quoted(_ words: [String]) -> String { "'\(words.joined(separator: " "))'" }
}
