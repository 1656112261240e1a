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
                A multivariant playlist is followed to its media playlists, each loaded once: session keys may open nothing, and leave
                out others. What is wrong with key tags and key URIs is said, as latchkey doctor says it.
                With --json a playlist is reported also where it is refused; "playlists" lists those that were followed.
                """,
            positionals: [playlist], options: [base, imports, Network.authorities, Flag.json],
            examples: [
                "latchkey keys master.m3u8",
                "latchkey keys --json https://cdn.example.com/v/video.m3u8",
                "curl -s https://cdn.example.com/v/p.m3u8 | latchkey keys --base https://cdn.example.com/v/p.m3u8 -",
                "latchkey keys --imports token=abc video.m3u8",
            ],
            yes: "the playlists are valid, with keys or without, and nothing is wrong with the keys",
            no: "a playlist is refused or cannot be loaded, or FairPlay does not take its keys")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let limits = PlaylistLimits()
        let transport = try Network.transport(trusting: arguments[Network.authorities], console)
        let delivery = DeliveryWatch()
        let web = WebResources(transport: transport, playlistLimit: limits.totalBytes, watch: delivery)
        let source = try await PlaylistSource.load(
            arguments[playlist], base: arguments[base], from: web, limit: limits.totalBytes, console)
        let named = arguments.all(imports)
        let context = PlaylistContext(
            uri: source.uri, imports: named.isEmpty ? nil : Dictionary(named.map { ($0.name, $0.value) }) { $1 },
            limits: limits)
        guard !arguments[Flag.json] else { return try await report(source, web, delivery, context, console) }
        let given = try Playlist(source.bytes, context: context)
        guard given.kind == .multivariant else {
            let checks = delivery.findings.checks
            console.print(([KeyTable(given).text] + checks.map(\.line)).joined(separator: "\n\n"))
            return (PlaylistChecks(given).checks + checks).contains { $0.result == .error } ? .no : .yes
        }
        let fetcher = FollowingFetcher(source, web, limit: limits.totalBytes, console)
        return try await follow(fetcher, source, delivery, console)
    }

    private func report(
        _ source: PlaylistSource, _ web: WebResources, _ delivery: DeliveryWatch, _ context: PlaylistContext,
        _ console: Console
    ) async throws -> ExitStatus {
        var report = KeysReport(PlaylistReport(source.bytes, context: context))
        if report.leadsFurther {
            let fetcher = FollowingFetcher(source, web, limit: context.limits.totalBytes, console)
            let found = try await KeyDiscovery(fetcher).keys(at: source.place)
            (report.followed, report.checks) = (found, PlaylistChecks(found).checks)
            console.endProgress()
        } else if let playlist = try? Playlist(source.bytes, context: context) {
            report.checks = PlaylistChecks(playlist).checks
        }
        report.checks += delivery.findings.checks
        try console.printJSON(report)
        return report.isRight ? .yes : .no
    }

    private func follow(
        _ fetcher: FollowingFetcher, _ source: PlaylistSource, _ delivery: DeliveryWatch, _ console: Console
    ) async throws -> ExitStatus {
        let discovered = try await KeyDiscovery(fetcher).keys(at: source.place)
        console.endProgress()
        let checks = PlaylistChecks(discovered).checks + delivery.findings.checks
        console.print(DiscoveryTable(discovered, checks).text)
        for failure in discovered.failures { console.note("latchkey: a playlist is missing. \("\(failure)".visible)") }
        return discovered.failures.isEmpty && !checks.contains { $0.result == .error } ? .yes : .no
    }
}
