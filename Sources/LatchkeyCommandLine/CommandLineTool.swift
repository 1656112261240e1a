import LatchkeyCore
import LatchkeyTerminal

/// The tool as a function: arguments in, texts to a console, an exit status out.
struct CommandLineTool: Sendable {
    /// Shown by `--version`.
    static let version = "0.1.0"

    /// All verbs, in the order of the help.
    let verbs: [any Verb]

    /// Runs the verb that the arguments name, and turns whatever it throws into a message and a status.
    func run(_ arguments: [String], _ console: Console) async -> ExitStatus {
        await console.report("latchkey") { try await dispatch(arguments, console) }
    }

    private func dispatch(_ arguments: [String], _ console: Console) async throws -> ExitStatus {
        guard let first = arguments.first else {
            console.note(help)
            return .usage
        }
        switch first {
        case "--version":
            console.print("latchkey \(Self.version)")
            return .yes
        case "--help", "-h", "help":
            if arguments.contains("--man") {
                console.print(ManualPage(version: Self.version, verbs: verbs.map(\.usage)).text)
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

    /// The verb that the first word names, or the first two, and the words behind its name.
    private func verb(_ words: [String]) throws(UsageError) -> (verb: any Verb, words: [String]) {
        let name = words.first ?? ""
        let group = verbs.filter { $0.usage.name.hasPrefix("\(name) ") }
        if !group.isEmpty, let second = words.dropFirst().first, !second.hasPrefix("-") {
            if let verb = group.first(where: { $0.usage.name == "\(name) \(second)" }) {
                return (verb, Array(words.dropFirst(2)))
            }
            let parent = verbs.first { $0.usage.name == name && !$0.usage.positionals.isEmpty }
            let seconds = group.map { String($0.usage.name.dropFirst(name.count + 1)) }
            guard let parent, Spelling.closest(to: second, among: seconds) == nil else {
                throw unknown("\(name) \(second)", among: group)
            }
            return (parent, Array(words.dropFirst()))
        }
        if let verb = verbs.first(where: { $0.usage.name == name }) { return (verb, Array(words.dropFirst())) }
        guard group.isEmpty else {
            let names = group.map { "latchkey \($0.usage.name)" }.joined(separator: ", ")
            throw UsageError("\(name) needs a second word.", hint: "There are: \(names)")
        }
        throw unknown(name, among: verbs)
    }

    private func unknown(_ name: String, among verbs: [any Verb]) -> UsageError {
        let closest = Spelling.closest(to: name, among: verbs.map(\.usage.name))
        let hint = closest.map { "Did you mean: latchkey \($0)" } ?? "See: latchkey --help"
        return UsageError("there is no verb \(name).", hint: hint)
    }

    /// The help for a word that only begins the names of verbs; `nil` if the arguments name a verb or do not ask for help.
    private func help(ofGroup name: String, _ arguments: [String]) -> String? {
        let group = verbs.map(\.usage).filter { $0.name.hasPrefix("\(name) ") }
        guard !group.isEmpty, arguments.count == 2, ArgumentParser.asksForHelp(arguments) else { return nil }
        return Help.table(group.map { ("latchkey \($0.name)", $0.summary) })
    }
}

extension CommandLineTool {
    /// The verbs, a line each.
    var help: String {
        """
        latchkey: FairPlay key delivery end to end, without an Apple device

        Usage: latchkey VERB [options]

        \(Help.table(verbs.map { ($0.usage.name, $0.usage.summary) }))

        `latchkey VERB --help` says more, with examples. `latchkey help --man` prints the manual page, `latchkey --version` the version.
        Exit codes: 0 yes, 1 no, 2 wrong usage, 128 + N ended by signal N, with nothing left behind. Results go to standard output, everything else to standard error.
        """
    }
}
