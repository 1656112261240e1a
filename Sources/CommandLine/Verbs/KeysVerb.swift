import Foundation
import LatchkeyCore
import LatchkeyHLS

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
                A multivariant playlist without session keys is followed to its media playlists, each loaded once.
                With --json the given playlist alone is reported, also where it is refused.
                """,
            positionals: [playlist], options: [base, imports, Flag.json],
            examples: [
                "latchkey keys master.m3u8",
                "latchkey keys --json https://cdn.example.com/v/video.m3u8",
                "curl -s https://cdn.example.com/v/p.m3u8 | latchkey keys --base https://cdn.example.com/v/p.m3u8 -",
                "latchkey keys --imports token=abc video.m3u8",
            ],
            yes: "the playlist is valid, with keys or without",
            no: "the playlist is refused, or cannot be loaded")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let limits = PlaylistLimits()
        let source = try await PlaylistSource.load(arguments[playlist], limit: limits.totalBytes, console)
        let named = arguments.all(imports)
        let context = PlaylistContext(
            uri: arguments[base] ?? source.uri,
            imports: named.isEmpty ? nil : Dictionary(named.map { ($0.name, $0.value) }) { $1 }, limits: limits)
        guard !arguments[Flag.json] else { return try report(source.bytes, context, console) }
        let read = try Playlist(source.bytes, context: context)
        console.print(KeyTable(read).text)
        return .yes
    }

    private func report(_ bytes: Data, _ context: PlaylistContext, _ console: Console) throws -> ExitStatus {
        let report = PlaylistReport(bytes, context: context)
        try console.printJSON(report)
        return report.refusal == nil ? .yes : .no
    }
}
