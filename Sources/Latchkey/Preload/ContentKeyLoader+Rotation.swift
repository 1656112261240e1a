public import Foundation
public import LatchkeyCore
import LatchkeyHLS

extension ContentKeyLoader {
    /// The FairPlay keys that a stream's playlists name now, for `PlayerKeyRequest.keysInPlaylists()`.
    ///
    /// Reads one pathway, and of a ladder as many playlists as it takes to find its distinct keys; all of the pathway's once for a key that
    /// the player holds and these have never named. It takes 10 s at most. The result for a live stream is good for a minute, for a
    /// complete stream as long as the loader lives.
    /// - Parameters:
    ///   - stream: the http or https address of the stream that the player plays.
    ///   - player: holds keys of this stream.
    /// - Returns: `nil` if any of these playlists cannot be read.
    @_spi(Adapters) public func keysNow(in stream: URL, heldBy player: PlayerID) async -> Set<KeyURI>? {
        await namedKeys.keys(of: stream, requests.heldKeys(of: player), .init(caller: caller, trace: trace()))
    }
}

/// The keys that streams' playlists name, cached as long as they are valid.
final class NamedKeys: Sendable {
    struct Reader {
        let caller: ServiceCaller
        let trace: Trace
    }

    private struct Answer {
        let keys: Set<KeyURI>?
        let time: Duration
        /// Whether none of the playlists will grow.
        var isComplete = false
        /// Which playlists have to be read.
        var scope: KeyDiscovery.Scope
    }

    private struct State {
        var answers: [URL: Answer] = [:]
        /// Keys that a playlist has named, or that none of a pathway did: where the representatives do not name them, they are gone.
        var explained: Set<KeyURI> = []
    }

    private static let lifetime = Duration.seconds(60)
    private static let limits = PreloadLimits(keys: 10_000, playlists: 200, time: .seconds(10))
    private static let mostStreams = 16
    private static let mostKeys = 1_000
    private let state = Locked(State())
    /// The streams that are being read: keys of a stream that are due together share the result.
    private let reading = Locked<[URL: Promise<Void, Never>]>([:])

    func keys(of stream: URL, _ held: Set<KeyURI>, _ reader: Reader) async -> Set<KeyURI>? {
        try? await reading.alone(with: stream) { await self.namedKeys(of: stream, held, reader) }
    }

    private func namedKeys(of stream: URL, _ held: Set<KeyURI>, _ reader: Reader) async -> Set<KeyURI>? {
        guard let named = await keys(of: stream, reader, in: nil) else { return nil }
        let strangers = held.subtracting(explained(named, held: held))
        guard !strangers.isEmpty else { return named }
        // A packager may assign keys by something other than quality.
        guard let all = await keys(of: stream, reader, in: .onePathway) else { return nil }
        _ = explained(all.union(strangers), held: held)
        if strangers.isDisjoint(with: all) { state.withLock { $0.answers[stream]?.scope = .representatives } }
        return all
    }

    /// Adds explained keys.
    /// - Returns: all of them.
    private func explained(_ keys: Set<KeyURI>, held: Set<KeyURI>) -> Set<KeyURI> {
        state.withLock { state in
            if state.explained.count > Self.mostKeys { state.explained.formIntersection(held) }
            state.explained.formUnion(keys)
            return state.explained
        }
    }

    /// - Parameter scope: which playlists to read; `nil` for the scope that was enough so far.
    private func keys(of stream: URL, _ reader: Reader, in scope: KeyDiscovery.Scope?) async -> Set<KeyURI>? {
        let now = reader.caller.timekeeper.uptime
        let known = state.withLock { $0.answers[stream] }
        if let known, known.isComplete || now - known.time < Self.lifetime, known.scope == scope ?? known.scope {
            return known.keys
        }
        let answer = await Self.read(stream, scope ?? known?.scope ?? .representatives, reader)
        state.withLock { state in
            state.answers[stream] = answer
            if state.answers.count > Self.mostStreams,
                let oldest = state.answers.min(by: { $0.value.time < $1.value.time })
            {
                state.answers[oldest.key] = nil
            }
        }
        return answer.keys
    }

    private static func read(_ stream: URL, _ scope: KeyDiscovery.Scope, _ reader: Reader) async -> Answer {
        let caller = reader.caller
        let now = caller.timekeeper.uptime
        let discovery = KeyDiscovery(
            PlaylistLoader(caller: caller, byteLimit: limits.playlistBytes, trace: reader.trace), scope: scope)
        let found = try? await withDeadline(
            limits.time, caller.timekeeper,
            expired: { ContentKeyError.deadlineExceeded(limits.time, stage: .playlist, after: nil, attempts: 1) },
            { try await discovery.keys(at: stream.absoluteString) })
        // A playlist that could not be read may name any key.
        guard let found, found.failures.isEmpty else { return Answer(keys: nil, time: now, scope: scope) }
        let media = found.playlists.filter { $0.playlist.kind == .media }
        return Answer(
            keys: Set(found.fairPlayURIs + found.hintedKeys.filter(\.isFairPlay).map(\.uri)), time: now,
            isComplete: !media.isEmpty && media.allSatisfy(\.playlist.isComplete), scope: scope)
    }
}
