import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey replay`: reproduces the error of a support bundle.
struct ReplayVerb: Verb {
    private let bundle = Positional("BUNDLE", "a file of latchkey capture or of an app's supportBundle(), or -")

    var usage: Usage {
        Usage(
            name: "replay", summary: "reproduce the error of a support bundle, without a network",
            details: """
                A loader with the bundle's profile gets the recorded replies in their order, on virtual time. Nothing
                is sent. A bundle may come from an untrusted source: it is read within limits, and nothing in it is run.
                """,
            positionals: [bundle], options: [Flag.json],
            examples: ["latchkey replay capture.zip", "latchkey replay capture.zip --json"],
            yes: "it ended as in the capture", no: "it ended differently, or the file cannot be read",
            unknown: "the capture has no key request, so there was nothing to try")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let data = try InputFile.read(arguments[bundle], limit: ZipArchive.sizeLimit, console)
        let bundle = try SupportBundle(data)
        let outcome = try await Replay(bundle: bundle).outcome()
        let report = ReplayReport(
            vendor: bundle.vendor, same: outcome.isSame, error: outcome.failure, keys: bundle.keyCount,
            stage: outcome.stage, capturedCode: bundle.failure?.code.onOneLine,
            capturedStage: bundle.failure?.stage?.onOneLine)
        if arguments[Flag.json] { try console.printJSON(report) } else { console.print(report.text) }
        if report.isEmpty { return .unknown }
        return outcome.isSame ? .yes : .no
    }
}

/// The output of `latchkey replay --json`.
private struct ReplayReport: Encodable {
    let vendor: String
    /// Whether it ended as in the capture.
    let same: Bool
    let error: Failure?
    /// The number of requested keys.
    let keys: Int
    let stage, capturedCode, capturedStage: String?

    /// Whether nothing was tried, so that the absence of an error means nothing.
    var isEmpty: Bool { same && error == nil && keys == 0 }

    var text: String {
        if isEmpty { return "\(vendor): the capture has no key request, so nothing was tried." }
        let captured = Self.words(capturedCode, capturedStage)
        let found = Self.words(error?.code, stage)
        let verdict = same ? "as captured" : "captured was \(captured)"
        guard let error else { return "\(vendor): \(found), \(verdict)." }
        let standIn =
            error.requestID.map(SupportBundle.keeps) == false
            ? "\nThe request id replaces the real one, which is in the app's own log." : ""
        return "\(vendor): \(found), \(verdict).\n\(error.reason) \(error.remedy)\(standIn)"
    }

    private static func words(_ code: String?, _ stage: String?) -> String {
        guard let code else { return "no error" }
        return stage.map { "\(code) at \($0)" } ?? code
    }
}
