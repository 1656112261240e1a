package import Foundation
import LatchkeyCore
import LatchkeySystem

/// A verb's input and output.
package struct Console: Sendable {
    /// Results.
    package let output: any Sink
    /// Everything else: messages, progress.
    package let error: any Sink
    /// Whether `error` is a terminal, so that progress is useful.
    package let showsProgress: Bool
    /// Reads standard input to its end, up to a number of bytes.
    package let input: @Sendable (_ limit: Int) throws -> Data
    /// Asks the user for a text without showing it; `nil` if no user can be asked.
    package var ask: (@Sendable (_ question: String) -> String?)?
    /// Removes secrets from all output; shared by the console's copies.
    package let secrets = PrintedSecrets()
    /// Reads standard input piece by piece, for input that may exceed memory; an empty piece marks its end.
    package var inputPiece: (@Sendable () throws -> Data)?

    package init(
        output: any Sink, error: any Sink, showsProgress: Bool, input: @escaping @Sendable (_ limit: Int) throws -> Data
    ) {
        self.output = output
        self.error = error
        self.showsProgress = showsProgress
        self.input = input
    }

    /// Prints a result and a line end.
    package func print(_ text: String) { output.write(line(text)) }

    /// Prints a result as JSON: sorted keys, slashes unescaped.
    package func printJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        // Only strings hold invisible characters. The encoder escapes some of them; a terminal interprets more.
        let shown = text.unicodeScalars.reduce(into: "") { shown, scalar in
            if scalar.isVisible || scalar == "\n" {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += scalar.jsonEscape
            }
        }
        output.write(Data((secrets.shown(shown) + "\n").utf8))
    }

    /// Prints a result as JSON on one line, for a program that reads while the tool runs.
    package func printJSONLine(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        output.write(Data((secrets.shown(text) + "\n").utf8))
    }

    /// Prints a message and a line end.
    package func note(_ text: String) { error.write(line(text)) }

    /// Shows progress, on a terminal only, replacing the last progress.
    package func progress(_ text: String) {
        guard showsProgress else { return }
        error.write(Data("\r\u{1b}[K\(secrets.shown(text.visible))".utf8))
    }

    /// Removes the progress.
    package func endProgress() { progress("") }

    /// A text and a line end. Control characters, which a playlist may contain, never reach a terminal.
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
