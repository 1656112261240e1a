import LatchkeyCore
import LatchkeyVendors

/// The secure session with a vendor that the licenses of one source belong to.
///
/// The loader opens it before the first license, once for keys that are asked for together, and ends it when it is cancelled or goes
/// away. It is kept alive, each time the period has passed that the service states, by a heartbeat, or by a renewal of the license
/// where the license's reply said so. An adapter says what the loader cannot see: another source, the app in the background.
///
///     loader.session?.attach(renew: { player.renewKeys() }, fail: { error in player.stop(error) })
///
/// Steps are made one at a time. Ending waits for license requests and for a heartbeat under way, so that none of them meets a service
/// that has forgotten the session. Source: `vendors.md` §9.2.
public actor SecureSession {
    typealias Report = @Sendable (KeyEvent.Kind) -> Void

    /// A session that the service keeps.
    struct Live {
        let source: Int
        let period: Duration
        var values: [String: Secret]
        /// Counts changes of the values.
        var version = 0
        var renewal = SessionRenewal.heartbeat
        var failure: ContentKeyError?

        /// Takes over newer values of those that it has.
        mutating func replace(_ newer: [String: Secret]) {
            let replacing = newer.filter { values[$0.key] != nil }
            guard !replacing.isEmpty else { return }
            values.merge(replacing) { $1 }
            version += 1
        }
    }

    /// What was ordered from outside; takes effect as soon as nothing is under way.
    struct Orders {
        var source = 1
        var isClosed = false
    }

    struct Handlers {
        var renew: (@Sendable () -> Void)?
        var fail: (@Sendable (ContentKeyError) -> Void)?
    }

    enum Step { case setup(source: Int), renewal, teardown }

    /// Where the session stands.
    public internal(set) var state = SessionState.off

    let caller: ServiceCaller
    let report: Report
    let alarm: SessionAlarm
    let orders = Locked(Orders())
    let handlers = Locked(Handlers())

    var live: Live?
    /// Who waits for a setup, by source.
    var setups: [Int: SharedFetch<Void>] = [:]
    var failedSource: Int?
    /// The license requests under way, with the version of the values that each was sent with.
    var openLicenses: [Int: Int] = [:]
    var openRenewals = 0
    var lastLicense = 0
    var isDue = false
    var isMakingStep = false
    /// Counts setups, so that one that is given up changes no state later.
    var setupNumber = 0
    /// The suspensions at the time when the player was asked for a renewal that has not come yet.
    var playerAskedAtSuspension: Int?

    init(_ caller: ServiceCaller, _ report: @escaping Report) {
        self.caller = caller
        self.report = report
        alarm = SessionAlarm(caller.timekeeper)
    }
}

// MARK: - What the adapter says

extension SecureSession {
    /// Connects the player.
    /// - Parameters:
    ///   - renew: has the player ask for its keys again, with new SPCs and the purpose `renewal`; called where renewals of the license
    ///     keep the session alive.
    ///   - fail: has the player stop, because the session could not be kept alive; called once for a session.
    public nonisolated func attach(
        renew: @escaping @Sendable () -> Void, fail: @escaping @Sendable (ContentKeyError) -> Void
    ) {
        handlers.withLock { $0 = Handlers(renew: renew, fail: fail) }
    }

    /// Ends the session because another source plays, or the same one again; the next key opens one for it.
    ///
    /// Key requests that the loader takes from now on belong to the new source.
    public nonisolated func changeSource() {
        orders.withLock { $0.source += 1 }
        Task { await settle() }
    }

    /// Makes no heartbeat until `resume()`, for an app in the background that does not play.
    public nonisolated func suspend() { alarm.suspend() }

    /// Goes on after `suspend()`; what came due meanwhile is done once.
    public nonisolated func resume() { alarm.resume() }

    /// Ends the session and lets none begin.
    nonisolated func close() {
        orders.withLock { $0.isClosed = true }
        Task { await settle() }
    }
}
