import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVendors

/// `latchkey doctor`: what is wrong with a stream's keys, and at which step.
struct DoctorVerb: Verb {
    private let playlist = Positional("PLAYLIST", "a file, or an http or https URL")
    private let vendor = VendorOptions()
    private let credentials = Option(
        "credentials", .path("DIR"), "the certificate and ASk of a service for tests, whose SPCs are then made here")
    private let spc = Option(
        "spc", .path("FILE"), "an SPC that a device made, for a service whose SPCs are not made here")
    private let key = Option("key", .text("URI"), "the key that the SPC is for; the stream's first unless given")

    var usage: Usage {
        Usage(
            name: "doctor", summary: "look at each step of a stream's keys, and say what is wrong and what to do",
            details: """
                Looks at the settings, the playlists and their keys, the content identifiers, the token, the certificate, the
                licenses and the clocks, and goes on where one is wrong. What fails for a moment is not tried again, but said.

                """ + VendorOptions.details,
            positionals: [playlist],
            options: vendor.profileOptions + vendor.hostOptions + [credentials, spc, key, Flag.json],
            examples: [
                """
                latchkey doctor https://cdn.example.com/movie/master.m3u8 --vendor vudrm --spc captured.spc \\
                      --set certificateURL=https://fairplay-license.vudrm.tech/certificate/demo --set 'token=demo|…'
                """,
                """
                latchkey doctor http://127.0.0.1:8080/media/vudrm/two-keys/master.m3u8 --vendor vudrm \\
                      --set certificateURL=http://127.0.0.1:8080/vudrm/certificate/demo --set 'token=demo|…' \\
                      --credentials credentials --loopback-http
                """,
            ],
            yes: "nothing is wrong; there may be warnings", no: "something is")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let profile = try vendor.incompleteProfile(arguments, console)
        let diagnosis = Diagnosis(
            profile: profile, credentials: try vendor.credentialSet(arguments, for: profile),
            hosts: try vendor.hosts(arguments), player: try player(arguments, console))
        console.progress("Looking at \(profile.name)")
        let report = await diagnosis.report(on: arguments[playlist])
        console.endProgress()
        if arguments[Flag.json] {
            try console.printJSON(report)
        } else {
            console.print(report.text)
        }
        return report.healthy ? .yes : .no
    }

    private func player(_ arguments: Arguments, _ console: Console) throws -> Diagnosis.Player {
        let key = arguments[key].map { KeyURI($0) }
        switch (arguments[credentials], arguments[spc]) {
        case (_?, _?): throw UsageError("--credentials and --spc do not go together.")
        case (nil, nil) where key != nil, (_?, nil) where key != nil: throw UsageError("--key goes with --spc.")
        case (nil, nil): return .none
        case (let folder?, nil):
            let device = try DeviceCredentials(folder, console)
            return .device(certificate: device.certificate, applicationSecret: device.secret)
        case (nil, let file?):
            return .recorded(SPCMessage(try InputFile.read(file, limit: 1 << 20, console)), key: key)
        }
    }
}
