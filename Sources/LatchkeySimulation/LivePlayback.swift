@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay

/// One playback of a live stream: the keys that it holds and needs, and its events.
///
/// The loader calls in from any thread, the player's loop from its task. Nothing is called while the lock is held.
final class LivePlayback: Sendable {
    let loader: ContentKeyLoader
    let maker: SimulatedDeviceMaker
    let player: PlayerID
    let session: PlaybackSessionID
    private let retryInterval: Duration
    private let state = Locked(State())

    private struct State {
        var keys: [KeyURI: Entry] = [:]
        /// The keys of the due and upcoming segments.
        var wanted: Set<KeyURI> = []
        var inPlaylists: Set<KeyURI>?
        var report = LivePlayer.Report()
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?

        /// Returns the task that waits for all requests to be answered, if they are.
        mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
            guard keys.values.allSatisfy({ $0.pending == nil }) else { return nil }
            defer { waiter = nil }
            return waiter
        }
    }

    /// A key that segments need.
    private struct Entry {
        /// The latest key, which may have ended.
        var key: DeviceKey?
        /// The request that delivered it, which the loader holds.
        var held: LiveKeyRequest?
        /// The unanswered request.
        var pending: LiveKeyRequest?
        /// When to request a missing key that is not being requested; `nil` while the loader keeps it valid.
        var nextRequest: Duration? = .zero
        /// The index of the report's continuing gap.
        var openGap: Int?
    }

    init(
        loader: ContentKeyLoader, maker: SimulatedDeviceMaker, player: PlayerID, retryInterval: Duration
    ) {
        self.loader = loader
        self.maker = maker
        self.player = player
        self.retryInterval = retryInterval
        session = PlaybackSessionID(rawValue: .random(in: .min ... .max))
    }

    var report: LivePlayer.Report { state.withLock { $0.report } }

    /// The request whose key plays; `nil` if the loader holds none.
    func heldRequest(_ uri: KeyURI) -> LiveKeyRequest? { state.withLock { $0.keys[uri]?.held } }

    private var now: Duration { maker.timekeeper.uptime }
}

// Called by the player's loop.
extension LivePlayback {
    /// Requests the missing keys. The others stay: a player does not report that it no longer needs a key.
    /// - Parameter inPlaylists: the keys that the playlists name now; `nil` if unknown.
    func want(_ keys: [KeyURI], inPlaylists: Set<KeyURI>? = nil) {
        let now = now
        let new: [LiveKeyRequest] = state.withLock { state in
            (state.wanted, state.inPlaylists) = (Set(keys), inPlaylists)
            var new: [LiveKeyRequest] = []
            for uri in keys where !state.isClosed {
                var entry = state.keys[uri] ?? Entry()
                if entry.pending == nil, let due = entry.nextRequest, due <= now {
                    let request = LiveKeyRequest(uri, .streaming, of: self)
                    entry.pending = request
                    entry.nextRequest = nil
                    new.append(request)
                }
                state.keys[uri] = entry
            }
            return new
        }
        for request in new { request.send() }
    }

    /// The keys that the playlists name now; `nil` if unknown.
    var keysInPlaylists: Set<KeyURI>? { state.withLock { $0.inPlaylists } }

    /// Waits until every requested key has been answered.
    func untilAnswered() async {
        await withCheckedContinuation { waiter in
            let ready = state.withLock { state in
                state.waiter = waiter
                return state.takeWaiter()
            }
            ready?.resume()
        }
    }

    /// Plays one segment of a track, or records a gap.
    func play(_ needed: LiveStream.Key, for duration: Duration) {
        let timekeeper = maker.timekeeper
        let now = now
        state.withLock { state in
            state.report.segments += 1
            var entry = state.keys[needed.uri] ?? Entry()
            defer { state.keys[needed.uri] = entry }
            _ = entry.key?.start(at: timekeeper)
            if let key = entry.key, key.canDecrypt(at: timekeeper), (needed.content ?? key.contentKey) == key.contentKey
            {
                entry.openGap = nil
            } else if let gap = entry.openGap {
                state.report.gaps[gap].duration += duration
            } else {
                entry.openGap = state.report.gaps.count
                state.report.gaps.append(.init(key: needed.uri, start: now, duration: duration))
            }
        }
    }

    /// Releases everything and ignores later calls of the loader.
    func close() {
        let (entries, waiter): ([Entry], CheckedContinuation<Void, Never>?) = state.withLock { state in
            state.isClosed = true
            defer {
                state.keys = [:]
                state.waiter = nil
            }
            return (Array(state.keys.values), state.waiter)
        }
        for entry in entries { release(entry) }
        waiter?.resume()
    }

    private func release(_ entry: Entry) {
        entry.pending?.release()
        entry.held?.release()
    }
}

// Called by the loader.
extension LivePlayback {
    func answered(_ request: LiveKeyRequest, _ result: Result<DeviceKey, any Error>) {
        let (uri, purpose, now) = (request.keyURI, request.purpose, now)
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard var entry = state.keys[uri], entry.pending === request else { return nil }
            entry.pending = nil
            switch result {
            case .success(let key):
                entry.key = key
                entry.held = request
                entry.nextRequest = nil
                state.report.licenses.append(.init(key: uri, purpose: purpose, time: now))
            case .failure(let error):
                // The loader repeats a failed renewal while the key is valid.
                if entry.held == nil { entry.nextRequest = now + retryInterval }
                state.report.failures.append(.init(key: uri, purpose: purpose, time: now, error: error))
            }
            state.keys[uri] = entry
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    func renew(_ request: LiveKeyRequest) -> Bool {
        let now = now
        let (canRenew, renewal): (Bool, LiveKeyRequest?) = state.withLock { state in
            guard var entry = state.keys[request.keyURI], entry.held === request, let key = entry.key else {
                return (false, nil)
            }
            guard entry.pending == nil else { return (true, nil) }
            let renewal = LiveKeyRequest(request.keyURI, .renewal, of: self)
            entry.pending = renewal
            state.keys[request.keyURI] = entry
            state.report.renewals.append(
                .init(
                    key: request.keyURI, time: now, age: now - key.acceptedAt.uptime, lease: key.terms.lease))
            return (true, renewal)
        }
        renewal?.send()
        return canRenew
    }

    func ended(_ request: LiveKeyRequest, _ error: ContentKeyError) {
        let now = now
        state.withLock { state in
            guard !state.isClosed else { return }
            if state.wanted.contains(request.keyURI) {
                state.report.ends.append(.init(key: request.keyURI, time: now, error: error))
            }
            guard var entry = state.keys[request.keyURI], entry.held === request else { return }
            entry.held = nil
            entry.nextRequest = now + retryInterval
            state.keys[request.keyURI] = entry
        }
    }
}
