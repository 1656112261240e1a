import Foundation
import LatchkeySystem

/// The life of a program: arguments in, text to a console, an exit status out.
package enum Program {
    /// Runs the work with the process's arguments and console, and ends the process with its status.
    package static func run(_ work: @escaping @Sendable ([String], Console) async -> ExitStatus) async -> Never {
        // A reader that closes its end early, such as `head`, causes a failed write; the work continues to its end and cleans up.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let task = Task { await work(arguments, Console.ofProcess()) }
        Interruption.watch { task.cancel() }
        Interruption.end(with: await task.value.rawValue)
    }

    /// Runs a program without verbs.
    package static func run(_ verb: any Verb) async -> Never {
        await run { words, console in
            await console.report(verb.usage.program) { try await verb.run(words, console) }
        }
    }
}

extension Verb {
    /// Shows the help if the words ask for it. Otherwise parses them, reads the files that they reference, and does the work.
    package func run(_ words: [String], _ console: Console) async throws -> ExitStatus {
        guard !ArgumentParser.asksForHelp(words) else {
            console.print(usage.help)
            return .yes
        }
        var arguments = try ArgumentParser(usage: usage).parse(words)
        if printsSecrets || arguments.values["--reveal"] != nil { console.secrets.reveal() }
        console.secrets.hide(in: arguments)
        do {
            arguments = try await arguments.readingFiles(console)
            console.secrets.hide(in: arguments)
            return try await run(arguments, console)
        } catch let error as UsageError {
            throw error.hinting(at: "See: \(usage.command) --help")
        } catch  where arguments[Flag.json] {
            try console.printJSON(["error": Failure(error)])
            return .no
        }
    }
}

extension Console {
    /// Does the work, and converts any error to a message and a status.
    package func report(_ program: String, _ work: () async throws -> ExitStatus) async -> ExitStatus {
        do {
            let status = try await work()
            guard let failure = output.failure else { return status }
            throw FileError.cannotWrite("standard output", because: failure)
        } catch let error as UsageError {
            note("\(program): \(error.message)")
            if let hint = error.hint { note(hint) }
            return .usage
        } catch {
            note("\(program): \(Failure(error).text)")
            return .no
        }
    }
}
