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
            guard let name = arguments.dropFirst().first(where: { !$0.hasPrefix("-") }) else {
                console.print(help)
                return .yes
            }
            console.print(try verb(name).usage.help)
            return .yes
        default:
            return try await run(try verb(first), Array(arguments.dropFirst()), console)
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

    private func verb(_ name: String) throws -> any Verb {
        if let verb = verbs.first(where: { $0.usage.name == name }) { return verb }
        let closest = Spelling.closest(to: name, among: verbs.map(\.usage.name))
        let hint = closest.map { "Did you mean: latchkey \($0)" } ?? "See: latchkey --help"
        throw UsageError("there is no verb \(name).", hint: hint)
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
