package import Foundation
import LatchkeyCore
import LatchkeySystem

/// Where a verb reads and writes.
package struct Console: Sendable {
    /// Results.
    package let output: any Sink
    /// Everything else: messages, progress.
    package let error: any Sink
    /// Whether `error` is a terminal, so that progress is of use.
    package let showsProgress: Bool
    /// Standard input, read to its end, at most a number of bytes.
    package let input: @Sendable (_ limit: Int) throws -> Data
    /// Asks the user for a text that must not show; `nil` if nobody can be asked.
    package var ask: (@Sendable (_ question: String) -> String?)?
    /// Takes secrets out of all that is printed; shared by the console's copies.
    package let secrets = PrintedSecrets()
    /// Standard input piece by piece, for what may be longer than memory; an empty piece is its end.
    package var inputPiece: (@Sendable () throws -> Data)?

    package init(
        output: any Sink, error: any Sink, showsProgress: Bool, input: @escaping @Sendable (_ limit: Int) throws -> Data
    ) {
        self.output = output
        self.error = error
        self.showsProgress = showsProgress
        self.input = input
    }

    /// Prints a result, with a line end.
    package func print(_ text: String) { output.write(line(text)) }

    /// Prints a result as JSON: keys in order, slashes as they are.
    package func printJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        // Only strings hold invisible characters. The encoder escapes some of them; a terminal obeys more.
        let shown = text.unicodeScalars.reduce(into: "") { shown, scalar in
            if scalar.isVisible || scalar == "\n" {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += scalar.jsonEscape
            }
        }
        output.write(Data((secrets.shown(shown) + "\n").utf8))
    }

    /// Prints a result as JSON on one line, for a program that reads on while the tool runs.
    package func printJSONLine(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        output.write(Data((secrets.shown(text) + "\n").utf8))
    }

    /// Prints a message, with a line end.
    package func note(_ text: String) { error.write(line(text)) }

    /// Shows progress, on a terminal only, in place of the last progress.
    package func progress(_ text: String) {
        guard showsProgress else { return }
        error.write(Data("\r\u{1b}[K\(secrets.shown(text.visible))".utf8))
    }

    /// Removes the progress.
    package func endProgress() { progress("") }

    /// A text and a line end. Control characters, which a playlist may bring along, never reach a terminal.
    private func line(_ text: String) -> Data { Data((secrets.shown(text.visibleLines) + "\n").utf8) }

    /// The console of the process.
    package static func ofProcess() -> Console {
        let isRead = Locked(false)
        var console = Console(
            output: FileSink(.standardOutput), error: FileSink(.standardError),
            showsProgress: isatty(FileHandle.standardError.fileDescriptor) == 1,
            input: { limit in
                let wasRead = isRead.withLock { isRead in
                    defer { isRead = true }
                    return isRead
                }
                guard !wasRead else { throw FileError.inputIsRead }
                return try InputFile.read(.standardInput, named: "standard input", limit: limit)
            })
        console.inputPiece = { try InputFile.nextPiece(of: .standardInput, named: "standard input") }
        if Terminal.canAsk { console.ask = { Terminal.askSecretly($0) } }
        return console
    }
}
