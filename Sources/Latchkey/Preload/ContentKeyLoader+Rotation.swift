public import Foundation
public import LatchkeyCore
import LatchkeyHLS

extension ContentKeyLoader {
    /// The FairPlay keys that a stream's playlists name now, for `PlayerKeyRequest.keysInPlaylists()`.
    ///
    /// All playlists are read, without credentials and for 10 s at most. What a live stream said is good for a minute, what a complete
    /// stream said for as long as the loader lives.
    /// - Parameter playlist: the stream's http or https address.
    /// - Returns: `nil` if any of the playlists cannot be read.
    @_spi(Adapters) public func keysNow(in playlist: URL) async -> Set<KeyURI>? {
        await namedKeys.keys(of: playlist, caller, trace())
    }
}

/// The keys that streams' playlists name, remembered for as long as they are good.
final class NamedKeys: Sendable {
    private struct Answer {
        let keys: Set<KeyURI>?
        let time: Duration
        /// Whether none of the playlists will grow.
        var isComplete = false
    }

    private static let lifetime = Duration.seconds(60)
    private static let limits = PreloadLimits(keys: 10_000, playlists: 200, time: .seconds(10))
    private static let mostStreams = 16
    private let answers = Locked<[URL: Answer]>([:])

    func keys(of playlist: URL, _ caller: ServiceCaller, _ trace: Trace) async -> Set<KeyURI>? {
        let now = caller.timekeeper.uptime
        if let known = answers.withLock({ $0[playlist] }), known.isComplete || now - known.time < Self.lifetime {
            return known.keys
        }
        let answer = await Self.read(playlist, caller, trace)
        answers.withLock { answers in
            answers[playlist] = answer
            if answers.count > Self.mostStreams, let oldest = answers.min(by: { $0.value.time < $1.value.time }) {
                answers[oldest.key] = nil
            }
        }
        return answer.keys
    }

    private static func read(_ playlist: URL, _ caller: ServiceCaller, _ trace: Trace) async -> Answer {
        let now = caller.timekeeper.uptime
        let discovery = KeyDiscovery(
            PlaylistLoader(caller: caller, byteLimit: limits.playlistBytes, trace: trace), scope: .everyMediaPlaylist)
        let found = try? await withDeadline(
            limits.time, caller.timekeeper,
            expired: { ContentKeyError.deadlineExceeded(limits.time, stage: .playlist, after: nil, attempts: 1) },
            { try await discovery.keys(at: playlist.absoluteString) })
        // A playlist that could not be read may name any key.
        guard let found, found.failures.isEmpty else { return Answer(keys: nil, time: now) }
        let media = found.playlists.filter { $0.playlist.kind == .media }
        return Answer(
            keys: Set(found.fairPlayURIs + found.hintedKeys.filter(\.isFairPlay).map(\.uri)), time: now,
            isComplete: !media.isEmpty && media.allSatisfy(\.playlist.isComplete))
    }
}
