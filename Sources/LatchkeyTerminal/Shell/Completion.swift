/// A shell with support for completions.
enum CompletionShell: String, Sendable, CaseIterable {
    case bash, zsh, fish

    /// The completions of a program, in the shell's language.
    func script(for program: String, _ verbs: [Usage]) -> String {
        switch self {
        case .bash: BashCompletions(program, verbs).text
        case .zsh: ZshCompletions(program, verbs).text
        case .fish: FishCompletions(program, verbs).text
        }
    }
}

extension Usage {
    /// The words of the verb's name: `vendors show` has two.
    var words: [String] { name.split(separator: " ").map(String.init) }

    /// The options, including `--help`.
    var allOptions: [any Parameter] { options + [Flag("help", "show the help")] }
}

extension [Usage] {
    /// The words that may come first, each once, with their descriptions.
    var firstWords: [(word: String, summary: String)] {
        var seen: Set<String> = []
        return compactMap { usage in
            guard let word = usage.words.first, seen.insert(word).inserted else { return nil }
            return (word, first { $0.name == word }?.summary ?? group(word))
        } + [("help", "show the help of a verb")]
    }

    /// The words that begin verbs but are not verbs, each with its verbs.
    var groups: [(word: String, verbs: [Usage])] {
        firstWords.map(\.word).filter { word in word != "help" && !contains { $0.name == word } }
            .map { word in (word, filter { $0.words.first == word }) }
    }

    /// The description of a word that only begins verbs.
    private func group(_ word: String) -> String {
        filter { $0.words.first == word }.map(\.name).joined(separator: ", ")
    }

    /// Longer names first, so that `vendors show` is found before `vendors`.
    var longestFirst: [Usage] { sorted { $0.words.count > $1.words.count } }
}
