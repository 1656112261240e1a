import Foundation
import LatchkeyCore
import LatchkeyTerminal

@testable import LatchkeyServerTool

/// The result of running the tool inside a test.
struct ToolRun {
    let status: LatchkeyTerminal.ExitStatus
    let output: String
    let error: String

    init(_ arguments: String...) async { await self.init(arguments: arguments) }

    init(arguments: [String]) async {
        let (output, error) = (Texts(), Texts())
        let console = Console(output: output, error: error, showsProgress: false) { _ in Data() }
        status = await CommandLineTool.licenseServer.run(arguments, console)
        (self.output, self.error) = (output.text, error.text)
    }

    final class Texts: Sink {
        private let data = Locked(Data())
        var text: String { String(decoding: data.withLock { $0 }, as: UTF8.self) }
        var failure: String? { nil }
        func write(_ data: Data) { self.data.withLock { $0.append(data) } }
    }
}
