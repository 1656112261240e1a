import LatchkeyCore
import LatchkeyForms

/// A program with verbs as a function: arguments in, text to a console, an exit status out.
package struct CommandLineTool: Sendable {
    /// Shown by `--version`.
    package static let version = LatchkeyVersion.text

    /// The program's name.
    package let name: String
    /// A one-line summary.
    package let summary: String
    /// All verbs, in the order of the help.
    package let verbs: [any Verb]
    private let manual: (@Sendable ([Usage]) -> String)?

    /// - Parameters:
    ///   - name: the program's name.
    ///   - summary: a one-line summary.
    ///   - verbs: all verbs, in the order of the help.
    ///   - manual: creates the manual page. Defaults to none.
    package init(
        name: String, summary: String, verbs: [any Verb], manual: (@Sendable ([Usage]) -> String)? = nil
    ) {
        self.name = name
        self.summary = summary
        self.verbs = verbs
        self.manual = manual
    }

    /// Runs the verb that the arguments name, and converts any error to a message and a status.
    package func run(_ arguments: [String], _ console: Console) async -> ExitStatus {
        await console.report(name) { try await dispatch(arguments, console) }
    }

    private func dispatch(_ arguments: [String], _ console: Console) async throws -> ExitStatus {
        guard let first = arguments.first else {
            console.note(help)
            return .usage
        }
        switch first {
        case "--version":
            console.print("\(name) \(Self.version)")
            return .yes
        case "--help", "-h", "help":
            if let manual, arguments.contains("--man") {
                console.print(manual(verbs.map(\.usage)))
                return .yes
            }
            let names = arguments.dropFirst().filter { !$0.hasPrefix("-") }
            console.print(names.isEmpty ? help : try verb(names).verb.usage.help)
            return .yes
        default:
            if !verbs.contains(where: { $0.usage.name == first }), let help = help(ofGroup: first, arguments) {
                console.print(help)
                return .yes
            }
            let (verb, words) = try verb(arguments)
            return try await verb.run(words, console)
        }
    }

    /// The verb that the first one or two words name, and the words after its name.
    private func verb(_ words: [String]) throws(UsageError) -> (verb: any Verb, words: [String]) {
        let first = words.first ?? ""
        let group = verbs.filter { $0.usage.name.hasPrefix("\(first) ") }
        if !group.isEmpty, let second = words.dropFirst().first, !second.hasPrefix("-") {
            if let verb = group.first(where: { $0.usage.name == "\(first) \(second)" }) {
                return (verb, Array(words.dropFirst(2)))
            }
            let parent = verbs.first { $0.usage.name == first && !$0.usage.positionals.isEmpty }
            let seconds = group.map { String($0.usage.name.dropFirst(first.count + 1)) }
            guard let parent, Spelling.closest(to: second, among: seconds) == nil else {
                throw unknown("\(first) \(second)", among: group)
            }
            return (parent, Array(words.dropFirst()))
        }
        if let verb = verbs.first(where: { $0.usage.name == first }) { return (verb, Array(words.dropFirst())) }
        guard group.isEmpty else {
            let names = group.map(\.usage.command).joined(separator: ", ")
            throw UsageError("\(first) needs a second word.", hint: "There are: \(names)")
        }
        throw unknown(first, among: verbs)
    }

    private func unknown(_ verb: String, among verbs: [any Verb]) -> UsageError {
        let closest = Spelling.closest(to: verb, among: verbs.map(\.usage.name))
        let hint = closest.map { "Did you mean: \(name) \($0)" } ?? "See: \(name) --help"
        return UsageError("there is no verb \(verb).", hint: hint)
    }

    /// The help for a word that only begins the names of verbs; `nil` if the arguments name a verb or do not ask for help.
    private func help(ofGroup first: String, _ arguments: [String]) -> String? {
        let group = verbs.map(\.usage).filter { $0.name.hasPrefix("\(first) ") }
        guard !group.isEmpty, arguments.count == 2, ArgumentParser.asksForHelp(arguments) else { return nil }
        return Help.table(group.map { ($0.command, $0.summary) })
    }
}

extension CommandLineTool {
    /// The verbs, a line each.
    package var help: String {
        let more = manual == nil ? "" : ", `\(name) help --man` the manual page"
        return """
            \(name): \(summary)

            Usage: \(name) VERB [options]

            \(Help.table(verbs.map { ($0.usage.name, $0.usage.summary) }))

            `\(name) VERB --help` says more, with examples; `\(name) --version` prints the version\(more).
            Exit codes: 0 yes, 1 no, 2 wrong usage, 3 not enough was seen to tell, 128 + N ended by signal N, with nothing left behind. Results go to standard output, everything else to standard error.
            """
    }
}
