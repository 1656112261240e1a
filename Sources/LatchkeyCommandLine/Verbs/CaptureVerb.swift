import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey capture`: plays a stream, and writes a file for support.
struct CaptureVerb: Verb {
    private let stream = StreamOptions()
    private let out = Option("out", .path("FILE"), "the support bundle, a ZIP file; defaults to capture.zip")
    private let force = Flag("force", "let --out replace a file")

    var usage: Usage {
        Usage(
            name: "capture", summary: "play a stream, and write a file without secrets for support",
            details: """
                Plays as latchkey play does. The file has versions, configuration, profile, events, requests and replies, the
                playlists' lines about keys, and a trace as a page; it is written also when the stream does not play. Tokens,
                cookies, SPCs and other random-looking values are replaced by pseudonyms, and CKCs are left out. latchkey replay
                reproduces the error; latchkey capture checks that before it ends.

                """ + VendorOptions.details,
            positionals: [stream.playlist],
            options: stream.vendor.profileOptions + stream.vendor.hostOptions + [
                stream.credentials, out, force, Flag.json,
            ],
            examples: [
                "latchkey capture --vendor vudrm --out bundle.zip",
                "latchkey capture http://127.0.0.1:8080/media/vudrm/ts/master.m3u8 --vendor vudrm --loopback-http "
                    + "--credentials c …",
            ],
            yes: "the stream played, and the file is written",
            no: "the stream did not play; the file is written anyway",
            unknown: "nothing was decoded, so it is unknown whether the stream plays; the file is written"
        )
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = arguments[out] ?? "capture.zip"
        if !arguments[force], FileManager.default.fileExists(atPath: file) { throw FileError.exists(file) }
        let setting = try stream.setting(arguments, console)
        console.progress("Playing \(setting.vendor.profile.name)")
        let outcome = try await Capture(setting: setting).outcome()
        console.endProgress()
        await setting.close()
        try OutputFile.write(outcome.bundle, to: file, for: .owner, console)
        let report = try await CaptureReport(outcome, file: file)
        if arguments[Flag.json] {
            try console.printJSON(report)
        } else if file != "-" {
            console.print(report.text)
        }
        return report.status
    }
}

/// The output of `latchkey capture --json`.
struct CaptureReport: Encodable {
    let file: String
    let bytes: Int
    let error: Failure?
    /// Whether the decoded media is right; `nil` if none was decoded.
    let right: Bool?
    /// Whether a replay ends as the capture did.
    let replays: Bool
    /// The number of requested keys.
    let keys: Int

    init(_ outcome: Capture.Outcome, file: String) async throws {
        let bundle = try SupportBundle(outcome.bundle)
        self.file = file
        bytes = outcome.bundle.count
        error = outcome.failure
        right = outcome.failure == nil ? outcome.isRight : false
        replays = try await Replay(bundle: bundle).outcome().isSame
        keys = bundle.keyCount
    }

    var status: ExitStatus { right.map { $0 ? .yes : .no } ?? .unknown }

    var text: String {
        let size = "\(file), \(bytes) bytes"
        let again = replays ? "latchkey replay \(file) shows it again." : "A replay does not end in the same way."
        guard let error else {
            let found =
                switch right {
                case true?: "the stream played"
                case false?: "every key came, but the picture is wrong"
                case nil where keys == 0: "no key was requested, and nothing was decoded"
                case nil: "every key came, but nothing was decoded, so the picture is unknown"
                }
            return "\(size): \(found). \(again)"
        }
        let stage = error.stage.map { " at \($0)" } ?? ""
        return "\(size): \(error.code)\(stage). \(again)\n\(error.reason) \(error.remedy)"
    }
}
