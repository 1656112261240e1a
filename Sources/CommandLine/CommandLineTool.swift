import LatchkeyCore

/// The tool as a function: arguments in, texts to a console, an exit status out.
struct CommandLineTool: Sendable {
    /// Shown by `--version`.
    static let version = "0.1.0"

    /// All verbs, in the order of the help.
    let verbs: [any Verb]

    /// Runs the verb that the arguments name, and turns whatever it throws into a message and a status.
    func run(_ arguments: [String], _ console: Console) async -> ExitStatus {
        do {
            let status = try await dispatch(arguments, console)
            guard let failure = console.output.failure else { return status }
            throw FileError.cannotWrite("standard output", because: failure)
        } catch let error as UsageError {
            console.note("latchkey: \(error.message)")
            if let hint = error.hint { console.note(hint) }
            return .usage
        } catch {
            console.note("latchkey: \(Failure(error).text)")
            return .no
        }
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
            let names = arguments.dropFirst().filter { !$0.hasPrefix("-") }
            console.print(names.isEmpty ? help : try verb(names).verb.usage.help)
            return .yes
        default:
            if !verbs.contains(where: { $0.usage.name == first }), let help = help(ofGroup: first, arguments) {
                console.print(help)
                return .yes
            }
            let (verb, words) = try verb(arguments)
            return try await run(verb, words, console)
        }
    }

    private func run(_ verb: any Verb, _ words: [String], _ console: Console) async throws -> ExitStatus {
        guard !ArgumentParser.asksForHelp(words) else {
            console.print(verb.usage.help)
            return .yes
        }
        let arguments = try ArgumentParser(usage: verb.usage).parse(words)
        do {
            return try await verb.run(arguments, console)
        } catch let error as UsageError {
            throw error.hinting(at: "See: latchkey \(verb.usage.name) --help")
        } catch  where arguments[Flag.json] {
            try console.printJSON(["error": Failure(error)])
            return .no
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
            throw unknown("\(name) \(second)", among: group)
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

    /// The help for a word that only begins verbs' names; nil where the arguments name a verb, or do not ask for help.
    private func help(ofGroup name: String, _ arguments: [String]) -> String? {
        let group = verbs.map(\.usage).filter { $0.name.hasPrefix("\(name) ") }
        guard !group.isEmpty, arguments.count == 2, ArgumentParser.asksForHelp(arguments) else { return nil }
        return Help.table(group.map { ("latchkey \($0.name)", $0.summary) })
    }
}

/// What the exit status says.
enum ExitStatus: Int32, Sendable {
    /// Done; the answer is yes.
    case yes = 0
    /// Refused or failed; the answer is no.
    case no = 1
    /// The arguments are wrong; nothing was done.
    case usage = 2
}
