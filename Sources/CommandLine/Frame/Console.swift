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
    func print(_ text: String) { output.write(Data("\(text)\n".utf8)) }

    /// Prints a result as JSON: keys in order, slashes as they are.
    func printJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        output.write(try encoder.encode(value) + Data("\n".utf8))
    }

    /// Prints a message, with a line end.
    func note(_ text: String) { error.write(Data("\(text)\n".utf8)) }

    /// Shows what goes on, on a terminal only; the next progress takes its place.
    func progress(_ text: String) {
        guard showsProgress else { return }
        error.write(Data("\r\u{1b}[K\(text)".utf8))
    }

    /// Takes the progress away again.
    func endProgress() { progress("") }

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
