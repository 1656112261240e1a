import Foundation

/// Where a verb reads and writes.
struct Console: Sendable {
    /// Results.
    let output: any Sink
    /// Everything else: messages, progress.
    let error: any Sink
    /// Whether `error` is a terminal, so that progress is of use.
    let showsProgress: Bool
    /// Standard input, read to its end, at most a number of bytes.
    let input: @Sendable (_ limit: Int) throws -> Data

    /// Prints a result, with a line end.
    func print(_ text: String) { output.write(Self.line(text)) }

    /// Prints a result as JSON: keys in order, slashes as they are.
    func printJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        output.write(try encoder.encode(value) + Data("\n".utf8))
    }

    /// Prints a message, with a line end.
    func note(_ text: String) { error.write(Self.line(text)) }

    /// Shows what goes on, on a terminal only; the next progress takes its place.
    func progress(_ text: String) {
        guard showsProgress else { return }
        error.write(Data("\r\u{1b}[K\(text)".utf8))
    }

    /// Takes the progress away again.
    func endProgress() { progress("") }

    /// A text and a line end. Control characters, which a playlist may bring along, never reach a terminal.
    private static func line(_ text: String) -> Data {
        let visible = text.unicodeScalars.map { scalar in
            let isControl = scalar.properties.generalCategory == .control && scalar != "\n"
            return isControl ? "\u{fffd}" : scalar
        }
        var line = String(String.UnicodeScalarView(visible))
        line.append("\n")
        return Data(line.utf8)
    }

    /// The console of the process.
    static func ofProcess() -> Console {
        Console(
            output: FileSink(.standardOutput), error: FileSink(.standardError),
            showsProgress: isatty(FileHandle.standardError.fileDescriptor) == 1
        ) { limit in
            try InputFile.read(.standardInput, named: "standard input", limit: limit)
        }
    }
}
