import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyVendors

/// `latchkey play`: gets a stream's keys from a vendor's license service, and decodes it.
struct PlayVerb: Verb {
    private let playlist = Positional("PLAYLIST", "a file, or an http or https URL")
    private let vendor = VendorOptions()
    private let credentials = Option(
        "credentials", .path("DIR"), "the folder with the device's certificate and ASk; see latchkey credentials",
        .required)
    private let frame = Option("frame", .path("PNG"), "where to write a picture from the middle of the stream")
    private let out = Option("out", .path("FILE"), "where to write the clear stream, by its ending mp4, mkv or ts")
    private let hashes = Option(
        "hashes", .path("FILE"), "the clear stream's hashes, as the demo asset's hashes.json has them")
    private let reveal = Flag("reveal-test-keys", "show the content keys, which are test keys")

    var usage: Usage {
        Usage(
            name: "play", summary: "play a protected stream through a vendor's license service",
            details: """
                The simulated device makes the SPCs and opens the CKCs. It takes test certificates only, so that the license service
                has to be one for tests, such as latchkey serve. Without --hashes a stream counts as right where the decoder
                gives pictures and does not complain.

                """ + VendorOptions.details,
            positionals: [playlist],
            options: vendor.profileOptions + vendor.hostOptions + [credentials, frame, out, hashes, reveal, Flag.json],
            examples: [
                """
                latchkey play http://127.0.0.1:8080/media/vudrm/two-keys/master.m3u8 --vendor vudrm \\
                      --set certificateURL=http://127.0.0.1:8080/vudrm/certificate/demo --set 'token=demo|…' \\
                      --credentials credentials --loopback-http --frame picture.png
                """,
                """
                latchkey play http://127.0.0.1:8080/media/vudrm/ts/master.m3u8 --profile my-vendor.json --set token=… \\
                      --credentials credentials --loopback-http
                """,
            ],
            yes: "every key came, and everything decoded is right", no: "a key is missing, or a picture is wrong")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let profile = try vendor.profile(arguments, console)
        let loader = ContentKeyLoader(
            profile, credentials: try vendor.credentials(arguments, for: profile),
            configuration: LoaderConfiguration(hosts: try vendor.hosts(arguments)))
        defer { loader.cancel() }
        let device = try DeviceCredentials(arguments.required(credentials), console)
        let reference = try arguments[hashes].map {
            try ReferenceHashes(json: InputFile.read($0, limit: Self.hashesLimit, console))
        }
        console.progress("Playing \(profile.name)")
        defer { console.endProgress() }
        let player = SimulatedPlayer(
            loader: loader, applicationSecret: device.secret, certificate: device.certificate)
        let report = try await player.play(
            arguments[playlist], with: try FFmpeg(), picture: arguments[frame].map { URL(filePath: $0) },
            clearMedia: arguments[out].map { URL(filePath: $0) }, reference: reference)
        console.endProgress()
        try show(report, profile.identifier, arguments, console)
        return report.isRight ? .yes : .no
    }

    private static let hashesLimit = 16 << 20

    private func show(_ report: StreamReport, _ vendor: String, _ arguments: Arguments, _ console: Console) throws {
        let facts = PlayReport(report, vendor: vendor, revealsKeys: arguments[reveal])
        if arguments[Flag.json] { return try console.printJSON(facts) }
        for request in facts.requests {
            console.print(
                "\(request.method) \(request.url)  \(request.status.map(String.init) ?? "no reply")  \(request.ms) ms"
            )
        }
        for key in facts.keys {
            console.print("key \(key.uri)  \(key.terms?.description ?? key.error?.text ?? "")")
            if let contentKey = key.contentKey, let iv = key.contentIV { console.print("    \(contentKey) iv \(iv)") }
        }
        guard report.failure == nil else { return }
        if facts.keys.isEmpty { console.note("The playlist names no FairPlay key.") }
        for (track, played) in zip(facts.tracks, report.playback?.tracks ?? []) {
            let verdict = track.right ? "right" : "WRONG"
            console.print(
                "\(track.media) \(track.container) \(track.codec)  \(track.frames) frames decoded  \(verdict)")
            if !track.right, let complaint = played.complaints.first { console.note("ffmpeg: \(complaint)") }
        }
        let keys = facts.keys.count == 1 ? "1 key" : "\(facts.keys.count) keys"
        console.print("\(keys) in \(facts.requests.count) requests, \(facts.timeToKeyMilliseconds) ms")
    }
}
