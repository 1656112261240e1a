import LatchkeyCore
import LatchkeyHLS
import LatchkeyTerminal

/// The output of `latchkey keys --json`: the given playlist, and the playlists reached from it.
struct KeysReport {
    private let given: PlaylistReport
    /// The keys found behind a multivariant playlist; `nil` if it was not followed.
    var followed: DiscoveredKeys?
    /// The errors and oddities.
    var checks: [Checkup] = []
    /// The part of the media that was inspected.
    var media: ContainerLook?

    init(_ given: PlaylistReport) { self.given = given }

    /// Whether other playlists hold the keys.
    var leadsFurther: Bool { given.refusal == nil && given.kind == .multivariant }

    /// Whether every playlist was read and valid, and FairPlay accepts its keys.
    var isRight: Bool {
        given.refusal == nil && followed?.failures.isEmpty != false && !checks.contains { $0.result == .error }
    }
}

extension KeysReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case fairplayURIs, unusedSessionKeys, playlists, failures, checks, containers, error
    }

    private struct Followed: Encodable {
        let playlistURI: String
        let fairplayURIs: [KeyURI]
    }

    private struct Missing: Encodable {
        let playlistURI: String
        let error: Failure
    }

    func encode(to encoder: any Encoder) throws {
        try given.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        // A missing #EXTM3U is an error like any other for a caller that expects one.
        if let refusal = given.refusal { try container.encode(refusal.summary, forKey: .error) }
        try container.encode(checks, forKey: .checks)
        try container.encodeIfPresent(media, forKey: .containers)
        guard let followed else { return }
        try container.encode(followed.usedFairPlayURIs, forKey: .fairplayURIs)
        let unused = followed.unusedSessionKeys.filter { $0.format == .fairPlay }.map(\.uri)
        try container.encode(unused, forKey: .unusedSessionKeys)
        let others = followed.playlists.dropFirst().map { read in
            Followed(playlistURI: read.playlist.context.uri ?? "", fairplayURIs: read.playlist.fairPlayURIs)
        }
        try container.encode(others, forKey: .playlists)
        let missing = followed.failures.map { failure in
            Missing(
                playlistURI: Redaction.standard.redacted(urlText: failure.uri), error: Failure(failure.error))
        }
        try container.encode(missing, forKey: .failures)
    }
}
