import LatchkeyTerminal

/// Completions for fish.
struct FishCompletions {
    private let verbs: [Usage]

    init(_ verbs: [Usage]) { self.verbs = verbs }

    var text: String {
        let first = verbs.firstWords.map {
            "complete -c latchkey -n __fish_use_subcommand -a \($0.word) -d '\(escaped($0.summary))'"
        }
        return """
            # fish completions of latchkey; written by: latchkey completions fish
            function __latchkey_verb
                set -l words (commandline -opc)
                set -e words[1]
                test (count $words) -ge (count $argv); and test "$words[1..(count $argv)]" = "$argv"
            end
            complete -c latchkey -f
            \((first + verbs.flatMap(lines)).joined(separator: "\n"))
            """
    }

    private func lines(_ usage: Usage) -> [String] {
        let start = "complete -c latchkey -n '__latchkey_verb \(usage.name)'"
        let options = usage.allOptions.map { option in
            let value = option.placeholder == nil ? "" : " \(action(option.completion))"
            return "\(start) -l \(option.name.dropFirst(2))\(value) -d '\(escaped(option.help))'"
        }
        let seconds = verbs.filter { $0.words.count > 1 && $0.words.first == usage.name }.map { other in
            "\(start) -a \(other.words[1]) -d '\(escaped(other.summary))'"
        }
        let places = usage.positionals.compactMap { position -> String? in
            switch position.completion {
            case .none: nil
            case .files: "\(start) -F"
            case .words(let words): "\(start) -a '\(words.joined(separator: " "))'"
            }
        }
        return options + seconds + places
    }

    private func action(_ completion: Completion) -> String {
        switch completion {
        case .none: "-x"
        case .files: "-r -F"
        case .words(let words): "-x -a '\(words.joined(separator: " "))'"
        }
    }

    private func escaped(_ text: String) -> String { text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") }
}
