import LatchkeyForms

/// Parses the words after a verb.
///
/// `--name VALUE` and `--name=VALUE` are equivalent. A value that begins with two dashes needs the second form, so that a
/// forgotten value is noticed. A single `-` is a value (standard input), as is `-5`, and after `--` every word is one.
package struct ArgumentParser {
    private let usage: Usage

    package init(usage: Usage) { self.usage = usage }

    /// Whether the words ask for help, regardless of other words.
    package static func asksForHelp(_ words: [String]) -> Bool {
        words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
    }

    package func parse(_ words: [String]) throws(UsageError) -> Arguments {
        do throws(UsageError) {
            var arguments = Arguments()
            try read(words, into: &arguments)
            if let missing = usage.options.first(where: { $0.isRequired && arguments.values[$0.name] == nil }) {
                throw UsageError.missing(missing)
            }
            return arguments
        } catch {
            throw error.hinting(at: "See: \(usage.command) --help")
        }
    }

    private func read(_ words: [String], into arguments: inout Arguments) throws(UsageError) {
        var rest = words[...]
        var places: [String] = []
        var isOpen = true
        while let word = rest.popFirst() {
            if isOpen, word == "--" {
                isOpen = false
            } else if isOpen, Self.isOption(word) {
                try readOption(word, &rest, into: &arguments)
            } else {
                places.append(word)
            }
        }
        try place(places, into: &arguments)
    }

    private static func isOption(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word != "-" else { return false }
        return word.dropFirst().first?.isNumber != true
    }

    private func readOption(
        _ word: String, _ rest: inout ArraySlice<String>, into arguments: inout Arguments
    ) throws(UsageError) {
        let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = halves[0]
        guard let option = usage.options.first(where: { $0.name == name }) else { throw unknown(name) }
        guard option.isRepeatable || arguments.values[name] == nil else {
            throw UsageError("\(name) was given twice.")
        }
        let text = try value(of: option, behind: halves.dropFirst().first, &rest)
        do throws(UsageError) {
            arguments.values[name, default: []].append(try option.parse(text))
        } catch {
            throw UsageError("\(name) \(error.message).")
        }
    }

    private func value(
        of option: any Parameter, behind attached: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard let placeholder = option.placeholder else {
            guard attached == nil else { throw UsageError("\(option.name) takes no value.") }
            return ""
        }
        if let attached { return attached }
        var words: [String] = []
        for _ in 0..<option.wordCount {
            guard let next = rest.first else { throw UsageError("\(option.name) needs a value: \(placeholder).") }
            guard !next.hasPrefix("--") else {
                throw UsageError(
                    "\(option.name) needs a value: \(placeholder).",
                    hint: "A value that begins with dashes is written \(option.name)=\(next)")
            }
            words.append(rest.removeFirst())
        }
        return words.joined(separator: "\0")
    }

    private func place(_ words: [String], into arguments: inout Arguments) throws(UsageError) {
        var rest = words[...]
        for positional in usage.positionals {
            let count = positional.presence == .atLeastOnce ? rest.count : min(1, rest.count)
            guard count > 0 || positional.presence == .optional else {
                throw UsageError("\(positional.name) is missing.")
            }
            arguments.positionals[positional.name] = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        if let word = rest.first { throw UsageError("there is one argument too many: \(quoted(word)).") }
    }

    private func unknown(_ name: String) -> UsageError {
        let closest = Spelling.closest(to: name, among: usage.options.map(\.name) + ["--help"])
        return UsageError("there is no option \(name).", hint: closest.map { "Did you mean: \($0)" })
    }
}
