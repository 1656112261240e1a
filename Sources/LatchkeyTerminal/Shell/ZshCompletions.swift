/// Completions for zsh.
struct ZshCompletions {
    private let program: String
    private let verbs: [Usage]

    init(_ program: String, _ verbs: [Usage]) { (self.program, self.verbs) = (program, verbs) }

    var text: String {
        let described = verbs.firstWords.map { "        '\($0.word):\(escaped($0.summary))'" }
        return """
            #compdef \(program)
            # zsh completions of \(program); written by: \(program) completions zsh
            _\(program)() {
                local -a verbs
                verbs=(
            \(described.joined(separator: "\n"))
                )
                if (( CURRENT == 2 )); then
                    _describe 'verb' verbs
                    return
                fi
                case "$words[2] $words[3] " in
            \((verbs.longestFirst.map(branch) + verbs.groups.map(branch)).joined(separator: "\n"))
                esac
            }
            _\(program) "$@"
            """
    }

    private func branch(_ word: String, _ verbs: [Usage]) -> String {
        "        '\(word) '*) (( CURRENT != 3 )) || compadd \(verbs.map { $0.words[1] }.joined(separator: " ")) ;;"
    }

    private func branch(_ usage: Usage) -> String {
        let options = usage.allOptions.map { option in
            let name = (option.isRepeatable ? "*" : "") + "\(option.name)[\(escaped(option.help))]"
            return name + (option.placeholder.map { ":\(escaped($0)):\(action(option.completion))" } ?? "")
        }
        let seconds = verbs.map(\.words).filter { $0.count > 1 && $0.first == usage.name }.map { $0[1] }
        let places = usage.positionals.map { ":\(escaped($0.name)):\(action($0.completion))" }
        let second = seconds.isEmpty ? [] : ["*::verb:(\(seconds.joined(separator: " ")))"]
        let specifications = (options + places + second).map { "            '\($0)'" }
        return """
                    '\(usage.name) '*)
                        shift \(usage.words.count) words
                        (( CURRENT -= \(usage.words.count) ))
                        _arguments \\
            \(specifications.joined(separator: " \\\n")) ;;
            """
    }

    private func action(_ completion: Completion) -> String {
        switch completion {
        case .none: " "
        case .files: "_files"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// Escapes text for single quotes, and for the special characters of `_arguments` and `_describe`.
    private func escaped(_ text: String) -> String {
        text.replacing("'", with: "’").replacing(":", with: "\\:")
            .replacing("[", with: "\\[").replacing("]", with: "\\]")
    }
}
