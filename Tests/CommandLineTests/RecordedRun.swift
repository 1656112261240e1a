import Foundation
import LatchkeyCore
import LatchkeySystem

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// The result of running the tool inside the test.
struct RecordedRun {
    let status: ExitStatus
    let output: String
    let error: String

    /// The output as JSON.
    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(output.utf8))) as? [String: Any] ?? [:]
    }

    /// The code in `{"error": {"code": …}}`.
    var errorCode: String? { (json["error"] as? [String: Any])?["code"] as? String }

    init(
        _ arguments: String..., tool: CommandLineTool = .standard, input: Data = Data(), showsProgress: Bool = false
    ) async {
        await self.init(arguments, tool: tool, input: input, showsProgress: showsProgress)
    }

    init(_ arguments: [String], tool: CommandLineTool, input: Data = Data(), showsProgress: Bool = false) async {
        let (output, error) = (MemorySink(), MemorySink())
        let console = Console(output: output, error: error, showsProgress: showsProgress) { limit in
            guard input.count <= limit else { throw FileError.tooLarge("standard input", limit: limit) }
            return input
        }
        status = await tool.run(arguments, console)
        self.output = output.text
        self.error = error.text
    }
}

/// Keeps the output; for tests.
final class MemorySink: Sink {
    private let data = Locked(Data())

    var bytes: Data { data.withLock { $0 } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var failure: String? { nil }
    func write(_ data: Data) { self.data.withLock { $0.append(data) } }
}
