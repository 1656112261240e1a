import LatchkeyCore

/// A key that a player has got and still needs, and where it stands between two renewals.
struct HeldKey: Sendable {
    typealias Report = @Sendable (KeyEvent.Kind) -> Void

    /// What names a key among those that are held.
    struct ID: Sendable, Hashable {
        let player: PlayerID
        let key: KeyURI

        init(_ request: any PlayerKeyRequest) {
            player = request.player
            key = request.keyURI
        }
    }

    enum Phase: Sendable {
        /// Nothing happens until a time by the timekeeper's uptime.
        case resting(until: Duration)
        /// The player was asked to renew, and has not come yet.
        case asked(until: Duration)
        /// The player has come; its request is under way.
        case renewing(OpenKeyRequest)
        /// Nothing more is tried.
        case waiting
    }

    /// Counts the keys that were got anew; a renewal does not change it.
    let number: Int
    /// The last request that was answered; it can renew.
    let request: any PlayerKeyRequest
    let report: Report
    /// How long the license lives; nil where that is not known or does not end.
    let lease: Duration?
    /// When the lease ends, by the timekeeper's uptime.
    let end: Duration?
    var phase: Phase
    var failures = 0
    /// The code of the last failure.
    var lastFailure: String?

    /// When something is to be done; nil where nothing is, or where it is under way.
    var due: Duration? {
        switch phase {
        case .resting(let time), .asked(let time): end.map { min($0, time) } ?? time
        case .renewing, .waiting: end
        }
    }

    func hasEnded(at now: Duration) -> Bool { end.map { $0 <= now } ?? false }

    var isRenewing: Bool {
        if case .renewing = phase { true } else { false }
    }

    /// Notes that a renewal failed, and when the next is due.
    mutating func fail(
        _ code: String, at now: Duration, _ policy: LeasePolicy, using generator: inout some RandomNumberGenerator
    ) {
        failures += 1
        lastFailure = code
        let wait = policy.wait(afterFailures: failures, untilEnd: end.map { $0 - now }, using: &generator)
        phase = wait.map { .resting(until: now + $0) } ?? .waiting
    }

    /// Says that a renewal failed.
    func reportFailure(at now: Duration) {
        guard let lastFailure else { return }
        if case .resting(let time) = phase {
            report(.renewalFailed(code: lastFailure, nextAfter: time - now))
        } else {
            report(.renewalFailed(code: lastFailure, nextAfter: nil))
        }
    }
}

extension ContentKeyError {
    /// The lease is over.
    init(endOf key: HeldKey) {
        let lease = key.lease.map { " of \(Int($0.inSeconds)) s" } ?? ""
        let why: String
        let remedy: String
        switch (key.phase, key.lastFailure) {
        case (.waiting, nil):
            why = "the player has no way to renew it"
            remedy = "Implement renew() in the player's adapter, or have the license last as long as the stream."
        case (_, let code?):
            why = "\(key.failures) \(key.failures == 1 ? "renewal" : "renewals") failed, the last with \(code)"
            remedy = "Ask for the key again when the service can be reached."
        case (_, nil):
            why = "no renewal came in time"
            remedy = "Ask for the key again; call resume() where the loader was suspended."
        }
        self.init(
            .leaseEnded, stage: .license, "The key's lease\(lease) ended: \(why).", remedy: remedy, isRetryable: true)
    }
}
