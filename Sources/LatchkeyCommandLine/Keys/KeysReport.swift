import LatchkeyCore
import LatchkeyHLS
import LatchkeyTerminal

/// What `latchkey keys --json` prints: the given playlist, and those that it was followed to.
struct KeysReport {
    private let given: PlaylistReport
    /// What was found behind a multivariant playlist without FairPlay session keys; `nil` if it was not followed.
    var followed: DiscoveredKeys?

    init(_ given: PlaylistReport) { self.given = given }

    /// Whether the keys stand in other playlists.
    var leadsFurther: Bool { given.refusal == nil && given.kind == .multivariant && given.fairPlayURIs.isEmpty }

    /// Whether every playlist was read and valid.
    var isComplete: Bool { given.refusal == nil && followed?.failures.isEmpty != false }
}

extension KeysReport: Encodable {
    private enum CodingKeys: String, CodingKey { case fairplayURIs, playlists, failures, error }

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
        // A missing #EXTM3U is a reason like any other where somebody waits for one.
        if let refusal = given.refusal { try container.encode(refusal.summary, forKey: .error) }
        guard let followed else { return }
        try container.encode(followed.fairPlayURIs, forKey: .fairplayURIs)
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
