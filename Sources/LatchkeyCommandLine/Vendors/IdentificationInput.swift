import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHLS
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyVendors

/// The input of `latchkey vendors identify`, of any kind.
struct IdentificationInput {
    private let identification: VendorIdentification
    private let console: Console
    private let web = WebResources()

    private static let limit = 64 << 20

    init(_ identification: VendorIdentification, _ console: Console) {
        self.identification = identification
        self.console = console
    }

    /// The profiles that match an input, the contents of a capture's bodies, and the values of a player's source.
    struct Findings {
        var matches: [VendorMatch]
        var bodies: [String] = []
        var source: PlayerSource?
    }

    /// The findings for an argument: a key URI, a command, a file, an address or `-`.
    func findings(_ word: String) async throws -> Findings {
        let start = word.lowercased()
        if start.hasPrefix("skd:") { return Findings(matches: identification.identify(keyURI: KeyURI(word))) }
        if start.hasPrefix("curl ") || start.hasPrefix("$ curl ") {
            return findings(try TrafficCapture(Data(word.utf8)))
        }
        if let source = PlayerSource(address: word) { return findings(source) }
        let source = try await PlaylistSource.load(word, base: nil, from: web, limit: Self.limit, console)
        console.endProgress()
        return try await findings(source)
    }

    private func findings(_ source: PlaylistSource) async throws -> Findings {
        if Self.isPlaylist(source.bytes) {
            let fetcher = FollowingFetcher(source, web, limit: PlaylistLimits().totalBytes, console)
            let discovery = KeyDiscovery(fetcher, scope: .sessionKeysSuffice)
            return Findings(matches: matches(try await discovery.keys(at: source.place).fairPlayURIs))
        }
        let uris = Self.keyURIs(source.bytes)
        if let source = PlayerSource(source.bytes) { return findings(source) }
        return uris.isEmpty
            ? findings(try TrafficCapture(Inflate.unpacked(source.bytes))) : Findings(matches: matches(uris))
    }

    private func findings(_ source: PlayerSource) -> Findings {
        Findings(matches: source.matches(identification), source: source)
    }

    private func findings(_ capture: TrafficCapture) -> Findings {
        let found = [identification.identify(capture)] + playlists(in: capture)
        return Findings(matches: VendorIdentification.combined(found), bodies: capture.bodies)
    }

    private func matches(_ uris: [KeyURI]) -> [VendorMatch] {
        VendorIdentification.combined(uris.prefix(1_000).map { identification.identify(keyURI: $0) })
    }

    /// The matches for the playlists among the replies.
    private func playlists(in capture: TrafficCapture) -> [[VendorMatch]] {
        capture.exchanges.compactMap { exchange in
            guard let reply = exchange.reply, Self.isPlaylist(reply.body),
                let playlist = try? Playlist(reply.body, context: PlaylistContext())
            else { return nil }
            return matches(playlist.fairPlayURIs)
        }
    }

    private static func isPlaylist(_ bytes: Data) -> Bool {
        String(decoding: bytes.prefix(64), as: UTF8.self).drop { $0 == "\u{feff}" }.hasPrefix("#EXTM3U")
    }

    /// The lines of a file that holds only key URIs.
    private static func keyURIs(_ bytes: Data) -> [KeyURI] {
        guard bytes.count <= 1 << 20, let text = String(data: bytes, encoding: .utf8) else { return [] }
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
        return lines.allSatisfy { $0.lowercased().hasPrefix("skd:") } ? lines.map { KeyURI($0) } : []
    }
}
