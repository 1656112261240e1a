/// Completions for fish.
struct FishCompletions {
    private let program: String
    private let verbs: [Usage]

    init(_ program: String, _ verbs: [Usage]) { (self.program, self.verbs) = (program, verbs) }

    var text: String {
        let first = verbs.firstWords.map {
            "complete -c \(program) -n __fish_use_subcommand -a \($0.word) -d '\(escaped($0.summary))'"
        }
        return """
            # fish completions of \(program); written by: \(program) completions fish
            function \(function)
                set -l words (commandline -opc)
                set -e words[1]
                set -l last (count $argv)
                test (count $words) -ge $last; and test "$words[1..$last]" = "$argv"
            end
            complete -c \(program) -f
            \((first + verbs.groups.flatMap(lines) + verbs.flatMap(lines)).joined(separator: "\n"))
            """
    }

    private var function: String { "__\(program.replacing("-", with: "_"))_verb" }

    private func start(_ words: String) -> String { "complete -c \(program) -n '\(function) \(words)'" }

    private func second(_ usage: Usage) -> String { "-a \(usage.words[1]) -d '\(escaped(usage.summary))'" }

    private func lines(_ word: String, _ verbs: [Usage]) -> [String] { verbs.map { "\(start(word)) \(second($0))" } }

    private func lines(_ usage: Usage) -> [String] {
        let start = start(usage.name)
        let options = usage.allOptions.map { option in
            let value = option.placeholder == nil ? "" : " \(action(option.completion))"
            return "\(start) -l \(option.name.dropFirst(2))\(value) -d '\(escaped(option.help))'"
        }
        let seconds = verbs.filter { $0.words.count > 1 && $0.words.first == usage.name }.map {
            "\(start) \(second($0))"
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
