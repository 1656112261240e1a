import Foundation
import LatchkeySupport
import LatchkeySystem
import LatchkeyTerminal
import LatchkeyVendors

/// `latchkey vendors identify`: identifies the vendor of a stream, a request or a reply.
struct VendorsIdentifyVerb: Verb {
    private let input = Positional(
        "INPUT",
        "a key URI, a curl command, or a file, URL or - with a playlist, a player's source, a HAR file or an HTTP message",
        .files, .atLeastOnce)
    private let profile = Option(
        "profile", .path("FILE"), "a profile in JSON to match, in addition to Latchkey's", .repeatable)

    var usage: Usage {
        Usage(
            name: "vendors identify", summary: "name the profiles that fit a key URI, a capture or a playlist",
            details: """
                The best first, with the reasons: "certain" if something belongs to the vendor alone, such as its host or its
                header field, "likely" if few vendors have such a form, "possible" if many have. Several inputs are taken as
                one stream. Of a capture it names the kinds of bodies; of the source that a player is given (THEOplayer, JW Player,
                Bitmovin, Shaka Player, react-native-video, a playback URL of Mux) its settings, and the same in Swift. Nothing is
                sent but the requests for playlists at URLs, and nothing secret is printed.
                """,
            positionals: [input], options: [profile, Flag.json],
            examples: [
                "latchkey vendors identify 'skd://fps.ezdrm.com/;297f600f-1234-1234-b060-2ac13cc42585'",
                "latchkey vendors identify master.m3u8",
                "latchkey vendors identify session.har --json",
                "latchkey vendors identify source-description.json",
                "latchkey vendors identify \"curl 'https://license.example/' -H 'x-vudrm-token: …' --data-binary @spc\"",
            ],
            yes: "a vendor is certain or likely", no: "nothing names a vendor, or an input cannot be read")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let evidence = IdentificationInput(
            VendorIdentification(profiles: try ownProfiles(arguments, console) + VendorProfile.all), console)
        var (findings, bodies): ([[VendorMatch]], [String]) = ([], [])
        var source: PlayerSource?
        for word in arguments.all(input) {
            let found = try await evidence.findings(word)
            findings.append(found.matches)
            bodies += found.bodies
            source = source ?? found.source
        }
        let report = IdentificationReport(VendorIdentification.combined(findings), bodies: bodies, source: source)
        if arguments[Flag.json] { try console.printJSON(report) } else { console.print(report.text) }
        return report.isTelling ? .yes : .no
    }

    // A separate function: inlined into the asynchronous one, the map crashes Swift 6.3's compiler when it optimizes.
    @inline(never)
    private func ownProfiles(_ arguments: Arguments, _ console: Console) throws -> [VendorProfile] {
        try arguments.all(profile).map { path in
            try VendorProfile(json: InputFile.read(path, limit: VendorProfile.fileLimit, console))
        }
    }
}
