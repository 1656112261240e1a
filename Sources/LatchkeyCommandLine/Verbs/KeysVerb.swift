import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTerminal

/// `latchkey keys`: the content keys that a playlist names, and the segments that each opens.
struct KeysVerb: Verb {
    private let playlist = Positional("PLAYLIST", "a file, a folder, - for standard input, or an http or https URL")
    private let base = Option(
        "base", .text("URI"), "the playlist's address, for relative references and QUERYPARAM")
    private let imports = Option(
        "imports", .named, "a variable of the multivariant playlist, for EXT-X-DEFINE:IMPORT", .repeatable)

    private let samples = Option(
        "samples", .count, "the maximum number of segments whose containers are checked; defaults to 20")

    var usage: Usage {
        Usage(
            name: "keys", summary: "show which keys a playlist names, and which segments they open",
            details: """
                A multivariant playlist is followed to its media playlists, each loaded once: session keys may open nothing, and leave
                out others. Problems of key tags and key URIs are reported as by latchkey doctor. Media is checked without a key
                against the requirements of Apple's players: a segment of each key tag, period and rendition. A segment or init
                section in a file can be given in place of a playlist.
                With --json a refused playlist is reported, too; "playlists" lists the playlists that were followed.
                """,
            positionals: [playlist], options: [base, imports, samples, Network.authorities, Flag.json],
            examples: [
                "latchkey keys master.m3u8",
                "latchkey keys packaged/",
                "latchkey keys packaged/v/init.mp4",
                "latchkey keys --json https://cdn.example.com/v/video.m3u8",
                "curl -s https://cdn.example.com/v/p.m3u8 | latchkey keys --base https://cdn.example.com/v/p.m3u8 -",
                "latchkey keys --imports token=abc video.m3u8",
            ],
            yes: "the playlists are valid, with keys or without, and keys, playlists and media have no problems",
            no: "a playlist is refused or cannot be loaded, or Apple's players do not take keys, playlists or media")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let limits = PlaylistLimits()
        let transport = try Network.transport(trusting: arguments[Network.authorities], console)
        let delivery = DeliveryWatch()
        let web = WebResources(transport: transport, playlistLimit: limits.totalBytes, watch: delivery)
        let source = try await PlaylistSource.load(
            arguments[playlist], base: arguments[base], from: web, limit: limits.totalBytes, console)
        if let container = ContainerKind(segment: source.bytes) {
            return try showMedia(source, container, asJSON: arguments[Flag.json], console)
        }
        let named = arguments.all(imports)
        let context = PlaylistContext(
            uri: source.uri, imports: named.isEmpty ? nil : Dictionary(named.map { ($0.name, $0.value) }) { $1 },
            limits: limits)
        let limit = arguments[samples] ?? 20
        guard !arguments[Flag.json] else { return try await report(source, web, delivery, context, limit, console) }
        let given = try Playlist(source.bytes, context: context)
        guard given.kind == .multivariant else {
            var table = KeyTable(given)
            let media = await look(at: [located(given, source)], given.fairPlayURIs, limit, web, console)
            table.media = media
            let checks = delivery.findings.checks
            console.print(([table.text] + checks.map(\.line)).joined(separator: "\n\n"))
            return (PlaylistChecks(given).checks + media.checks + checks).contains { $0.result == .error } ? .no : .yes
        }
        let fetcher = FollowingFetcher(source, web, limit: limits.totalBytes, console)
        return try await follow(fetcher, source, delivery, limit, web, console)
    }

    /// The same playlist with the address of its file, so that its media can be found.
    private func located(_ playlist: Playlist, _ source: PlaylistSource) -> Playlist {
        var context = playlist.context
        context.uri = source.place.isEmpty ? nil : source.place
        return (try? Playlist(source.bytes, context: context)) ?? playlist
    }

    private func look(
        at playlists: [Playlist], _ keys: [KeyURI], _ limit: Int, _ web: WebResources, _ console: Console
    ) async -> ContainerLook {
        console.progress("Looking at the media")
        defer { console.endProgress() }
        return await ContainerLook(at: playlists, keys: keys, limit: limit, web)
    }

    /// A segment, an init section, or a whole file of media.
    private func showMedia(
        _ source: PlaylistSource, _ container: ContainerKind, asJSON: Bool, _ console: Console
    ) throws -> ExitStatus {
        let name = URL(fileURLWithPath: source.place).lastPathComponent
        let checks = try StreamFinding.all(inMedia: source.bytes, named: name).map { Checkup(.media, $0, about: nil) }
        if asJSON {
            try console.printJSON(MediaReport(container: container, checks: checks))
        } else {
            let head = "\(name.visible): \(container.rawValue), as media under a FairPlay key"
            console.print(([head] + checks.map(\.line)).joined(separator: "\n\n"))
        }
        return checks.contains { $0.result == .error } ? .no : .yes
    }

    private struct MediaReport: Encodable {
        let container: ContainerKind
        let checks: [Checkup]
    }

    private func report(
        _ source: PlaylistSource, _ web: WebResources, _ delivery: DeliveryWatch, _ context: PlaylistContext,
        _ limit: Int, _ console: Console
    ) async throws -> ExitStatus {
        var report = KeysReport(PlaylistReport(source.bytes, context: context))
        if report.leadsFurther {
            let fetcher = FollowingFetcher(source, web, limit: context.limits.totalBytes, console)
            let found = try await KeyDiscovery(fetcher).keys(at: source.place)
            console.endProgress()
            report.followed = found
            let media = await look(at: found.soundAndPictures, found.fairPlayURIs, limit, web, console)
            (report.media, report.checks) = (media, PlaylistChecks(found).checks + media.checks)
        } else if let playlist = try? Playlist(source.bytes, context: context) {
            let media = await look(at: [located(playlist, source)], playlist.fairPlayURIs, limit, web, console)
            (report.media, report.checks) = (media, PlaylistChecks(playlist).checks + media.checks)
        }
        report.checks += delivery.findings.checks
        try console.printJSON(report)
        return report.isRight ? .yes : .no
    }

    private func follow(
        _ fetcher: FollowingFetcher, _ source: PlaylistSource, _ delivery: DeliveryWatch, _ limit: Int,
        _ web: WebResources, _ console: Console
    ) async throws -> ExitStatus {
        let discovered = try await KeyDiscovery(fetcher).keys(at: source.place)
        console.endProgress()
        let media = await look(at: discovered.soundAndPictures, discovered.fairPlayURIs, limit, web, console)
        let checks = PlaylistChecks(discovered).checks + media.checks + delivery.findings.checks
        console.print(DiscoveryTable(discovered, checks, media).text)
        for failure in discovered.failures { console.note("latchkey: a playlist is missing. \("\(failure)".visible)") }
        return discovered.failures.isEmpty && !checks.contains { $0.result == .error } ? .yes : .no
    }
}
