import LatchkeyCore
import LatchkeyVendors

/// Recent final refusals: a player that asks again gets the same answer without another request to the service.
///
/// A player may request a key that it did not get up to eight times. A refusal answers the same player, for the same title, key and
/// purpose; never a renewal, which has its own waits.
final class RefusalMemory: Sendable {
    /// The refused request.
    struct Question: Sendable, Hashable {
        let player: PlayerID
        let asset: AssetID?
        let key: KeyURI
        let purpose: KeyPurpose
    }

    private struct Refusal {
        let error: ContentKeyError
        /// The time until which it answers, by the timekeeper's uptime.
        let end: Duration
    }

    /// The maximum number of refusals; above it the oldest is forgotten.
    static let limit = 256

    private let timekeeper: any Timekeeper
    private let lifetime: Duration
    private let refusals = Locked<[Question: Refusal]>([:])

    /// - Parameter lifetime: how long a refusal is remembered; zero for not at all.
    init(_ timekeeper: any Timekeeper, lifetime: Duration) {
        self.timekeeper = timekeeper
        self.lifetime = lifetime
    }

    /// How many refusals are held.
    var count: Int { refusals.withLock { $0.count } }

    /// The recent refusal, or `nil`.
    subscript(_ question: Question) -> ContentKeyError? {
        let now = timekeeper.uptime
        guard var error = refusals.withLock({ $0[question].flatMap { $0.end > now ? $0.error : nil } }) else {
            return nil
        }
        error.isRepeated = true
        return error
    }

    /// Remembers an error if it is a final refusal.
    func note(_ error: any Error, of question: Question) {
        guard let error = error as? ContentKeyError, error.isFinalRefusal, !error.isRepeated, lifetime > .zero,
            question.purpose != .renewal
        else { return }
        let now = timekeeper.uptime
        refusals.withLock { refusals in
            refusals = refusals.filter { $0.value.end > now }
            if refusals.count >= Self.limit, let oldest = refusals.min(by: { $0.value.end < $1.value.end })?.key {
                refusals[oldest] = nil
            }
            refusals[question] = Refusal(error: error, end: now + lifetime)
        }
    }

    /// Forgets refusals, so that the service is asked again.
    func forget(where isForgotten: (Question) -> Bool) {
        refusals.withLock { $0 = $0.filter { !isForgotten($0.key) } }
    }
}

extension RefusalMemory.Question {
    init(_ request: any PlayerKeyRequest, of asset: AssetID?) {
        self.init(player: request.player, asset: asset, key: request.keyURI, purpose: request.purpose)
    }
}

extension ContentKeyError {
    /// Whether the service refused, and neither another attempt nor a short wait changes that. The loader has tried with new credentials.
    var isFinalRefusal: Bool {
        // A token's time begins, and another stream of the account stops.
        service != nil && !isRetryable && ![.notYetValid, .concurrencyLimit].contains(kind)
    }
}

extension ContentKeyLoader {
    /// Makes players' next requests for recently refused keys go to the service again: call this after the viewer has signed in or bought
    /// the title. Otherwise, `RetryPolicy` says how long a refusal is remembered.
    ///
    /// No call is needed for an asset that is protected anew, for another source, and for a player that released its keys.
    /// - Parameter asset: the title; defaults to `nil`, all of them.
    public func forgetRefusals(of asset: AssetID? = nil) {
        requests.refusals.forget { asset == nil || $0.asset == asset }
    }

    /// Makes a player's next requests go to the service again, because it begins something new.
    @_spi(Adapters) public func forgetRefusals(by player: PlayerID) {
        requests.refusals.forget { $0.player == player }
    }
}
