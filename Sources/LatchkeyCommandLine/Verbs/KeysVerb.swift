import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeySimulation
import LatchkeyTerminal

/// `latchkey keys`: the content keys that a playlist names, and the segments that each opens.
struct KeysVerb: Verb {
    private let playlist = Positional("PLAYLIST", "a file, - for standard input, or an http or https URL")
    private let base = Option(
        "base", .text("URI"), "where the playlist came from, for relative references and QUERYPARAM")
    private let imports = Option(
        "imports", .named, "a variable of the multivariant playlist, for EXT-X-DEFINE:IMPORT", .repeatable)

    var usage: Usage {
        Usage(
            name: "keys", summary: "show which keys a playlist names, and which segments they open",
            details: """
                A multivariant playlist without FairPlay session keys is followed to its media playlists, each loaded once.
                With --json a playlist is reported also where it is refused; "playlists" lists those that were followed.
                """,
            positionals: [playlist], options: [base, imports, Network.authorities, Flag.json],
            examples: [
                "latchkey keys master.m3u8",
                "latchkey keys --json https://cdn.example.com/v/video.m3u8",
                "curl -s https://cdn.example.com/v/p.m3u8 | latchkey keys --base https://cdn.example.com/v/p.m3u8 -",
                "latchkey keys --imports token=abc video.m3u8",
            ],
            yes: "the playlist is valid, with keys or without",
            no: "the playlist, or one that it names, is refused or cannot be loaded")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let limits = PlaylistLimits()
        let transport = try Network.transport(trusting: arguments[Network.authorities], console)
        let web = WebResources(transport: transport, playlistLimit: limits.totalBytes)
        let source = try await PlaylistSource.load(
            arguments[playlist], base: arguments[base], from: web, limit: limits.totalBytes, console)
        let named = arguments.all(imports)
        let context = PlaylistContext(
            uri: source.uri, imports: named.isEmpty ? nil : Dictionary(named.map { ($0.name, $0.value) }) { $1 },
            limits: limits)
        guard !arguments[Flag.json] else { return try await report(source, web, context, console) }
        let given = try Playlist(source.bytes, context: context)
        guard given.kind == .multivariant else {
            console.print(KeyTable(given).text)
            return .yes
        }
        return try await follow(FollowingFetcher(source, web, limit: limits.totalBytes, console), source, console)
    }

    private func report(
        _ source: PlaylistSource, _ web: WebResources, _ context: PlaylistContext, _ console: Console
    ) async throws -> ExitStatus {
        var report = KeysReport(PlaylistReport(source.bytes, context: context))
        if report.leadsFurther {
            let fetcher = FollowingFetcher(source, web, limit: context.limits.totalBytes, console)
            report.followed = try await KeyDiscovery(fetcher).keys(at: source.place)
            console.endProgress()
        }
        try console.printJSON(report)
        return report.isComplete ? .yes : .no
    }

    private func follow(
        _ fetcher: FollowingFetcher, _ source: PlaylistSource, _ console: Console
    ) async throws -> ExitStatus {
        let discovered = try await KeyDiscovery(fetcher).keys(at: source.place)
        console.endProgress()
        console.print(DiscoveryTable(discovered).text)
        for failure in discovered.failures { console.note("latchkey: a playlist is missing. \("\(failure)".visible)") }
        return discovered.failures.isEmpty ? .yes : .no
    }
}
