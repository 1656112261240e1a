import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySimulation
import LatchkeySupport
import LatchkeySystem
import LatchkeyTerminal
import LatchkeyVendors

/// `latchkey doctor`: finds the faults of a stream's keys, and the step of each.
struct DoctorVerb: Verb {
    private let playlist = Positional(
        "PLAYLIST", "a file, a folder, or an http or https URL; not with --har", .files, .optional)
    private let vendor = VendorOptions()
    private let credentials = Option(
        "credentials", .path("DIR"), "a test service's credentials: make SPCs here, and open those of --har")
    private let spc = Option(
        "spc", .path("FILE"), "an SPC that a device made, for a service whose SPCs are not made here")
    private let key = Option("key", .text("URI"), "the key that the SPC is for; defaults to the stream's first")
    private let licenses = Option(
        "licenses", .count, "the maximum number of licenses to request; defaults to 8")
    private let samples = Option(
        "samples", .count, "the maximum number of segments to try; defaults to 100")
    private let har = Option(
        "har", .path("FILE"), "a recording of a proxy or browser, or the output of curl -v; nothing is sent")
    private let html = Option(
        "html", .path("FILE"), "where to write the report as a page, with the remedy of each step")

    var usage: Usage {
        Usage(
            name: "doctor", summary: "look at each step of a stream's keys, and say what is wrong and what to do",
            details: """
                Looks at all steps from settings and playlists to a segment of each key tag, period and rendition. The first line names
                the cause. If the bytes alone show that SPC or token is wrong, neither is sent. Nothing is tried twice. With --har the
                recorded requests are compared with the profile's; without --vendor the capture determines the vendor.
                """,
            positionals: [playlist],
            options: vendor.profileOptions + vendor.hostOptions + [
                credentials, spc, key, licenses, samples, har, html, TraceRecorder.option, Flag.json,
            ],
            examples: [
                """
                latchkey doctor https://cdn.example.com/movie/master.m3u8 --vendor vudrm --spc captured.spc \\
                      --set certificateURL=https://fairplay-license.vudrm.tech/certificate/demo --set 'token={token}'
                """,
                """
                latchkey doctor http://127.0.0.1:8080/media/vudrm/two-keys/master.m3u8 --vendor vudrm \\
                      --set certificateURL=http://127.0.0.1:8080/vudrm/certificate/demo --set 'token={token}' \\
                      --credentials credentials --loopback-http
                """,
                "latchkey doctor --har session.har",
            ],
            yes: "playlist, certificate and license are right", no: "something is wrong",
            unknown: "not enough was seen")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let recorder = try arguments.traceRecorder()
        let (name, report) = try await findings(arguments, recorder, console)
        console.endProgress()
        for problem in report.problems { recorder.add(problem) }
        try recorder.write(console)
        if let file = arguments[html] {
            let page = DoctorPage(report, of: name, recorder.trace).page
            try OutputFile.write(Data(page.utf8), to: file, for: .owner, console)
        }
        if arguments[Flag.json] {
            try console.printJSON(report)
        } else {
            console.print(report.text)
        }
        return report.status
    }

    /// The vendor's name and the findings.
    private func findings(
        _ arguments: Arguments, _ recorder: TraceRecorder, _ console: Console
    ) async throws -> (String, DoctorReport) {
        if let file = arguments[har] {
            let needless = [spc.name, key.name, licenses.name, samples.name, TraceRecorder.option.name]
            if arguments.given(playlist) != nil || needless.contains(where: { arguments.values[$0] != nil }) {
                throw UsageError(
                    "--har reads a recording, and takes no PLAYLIST, --spc, --key, --licenses, --samples or --trace."
                )
            }
            let capture = try Self.capture(InputFile.read(file, limit: Self.captureLimit, console))
            let isNamed = vendor.isNamed(in: arguments)
            let diagnosis = try TrafficDiagnosis(
                capture, profile: isNamed ? vendor.incompleteProfile(arguments, console) : nil,
                module: arguments[credentials].map { folder in
                    let credential = try KeyServerCredential(directory: URL(filePath: folder))
                    return KeyServerModule(credentials: [credential], derivation: InsecureTestDerivation())
                })
            return (diagnosis.name, await diagnosis.report())
        }
        guard let address = try arguments.given(playlist).map(StreamFolder.playlist) else {
            throw UsageError("PLAYLIST or --har FILE is missing.")
        }
        let profile = try vendor.incompleteProfile(arguments, console)
        var diagnosis = StreamDiagnosis(
            profile: profile, credentials: try vendor.credentialSet(arguments, for: profile, console),
            hosts: try vendor.hosts(arguments), player: try player(arguments, console),
            licenseLimit: arguments[licenses] ?? 8, transport: try vendor.transport(arguments, console))
        diagnosis.source = try vendor.renewed(diagnosis.credentials, arguments, console)
        diagnosis.recorder = recorder
        diagnosis.sampleLimit = arguments[samples] ?? diagnosis.sampleLimit
        console.progress("Looking at \(profile.name)")
        return (profile.name, await diagnosis.report(on: address))
    }

    /// In bytes.
    private static let captureLimit = 64 << 20

    private static func capture(_ data: Data) throws(Diagnosis) -> TrafficCapture {
        do { return try TrafficCapture(Inflate.unpacked(data)) } catch { throw error.remedied(for: "--har") }
    }

    private func player(_ arguments: Arguments, _ console: Console) throws -> StreamDiagnosis.Player {
        let key = arguments[key].map { KeyURI($0) }
        switch (arguments[credentials], arguments[spc]) {
        case (_?, _?): throw UsageError("--credentials and --spc do not go together.")
        case (nil, nil) where key != nil, (_?, nil) where key != nil: throw UsageError("--key goes with --spc.")
        case (nil, nil): return .none
        case (let folder?, nil):
            let device = try DeviceCredentials(folder, console)
            return .device(certificate: device.certificate, applicationSecret: device.secret)
        case (nil, let file?):
            return .recorded(try InputFile.read(file, limit: 1 << 20, console), key: key)
        }
    }
}
