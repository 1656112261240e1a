import LatchkeyCore
import LatchkeyVendors

/// The secure session with a vendor that the licenses of one source belong to.
///
/// The loader owns it: opens it before the first license, once for keys that are asked for together, and ends it when the player has
/// released the last key, goes on to another source, or is done. It is kept alive, each time the period has passed that the service
/// states, by a heartbeat, or by a renewal of the licenses where the license's reply said so. When it fails, each key that is held ends
/// with the error.
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
        var renew: (@Sendable () -> Bool)?
        var fail: (@Sendable (ContentKeyError) -> Void)?
    }

    enum Step { case setup(source: Int), renewal, teardown }

    /// Where the session stands.
    public internal(set) var state = SessionState.off

    let caller: ServiceCaller
    let report: Report
    let alarm: Alarm
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
        alarm = Alarm(caller.timekeeper)
    }
}

// MARK: - What the loader says

extension SecureSession {
    /// Connects the players.
    /// - Parameters:
    ///   - renew: has the players ask for their keys again, with new SPCs and the purpose `renewal`, and says whether any can; called
    ///     where renewals of the license keep the session alive.
    ///   - fail: has the players stop, because the session could not be kept alive; called once for a session.
    nonisolated func attach(
        renew: @escaping @Sendable () -> Bool, fail: @escaping @Sendable (ContentKeyError) -> Void
    ) {
        handlers.withLock { $0 = Handlers(renew: renew, fail: fail) }
    }

    /// Ends the session because another source plays, or the same one again; the next key opens one for it.
    ///
    /// Key requests that the loader takes from now on belong to the new source.
    nonisolated func changeSource() {
        orders.withLock { $0.source += 1 }
        startTask { await self.settle() }
    }

    /// Makes no heartbeat until `resume()`, for an app in the background that does not play.
    nonisolated func suspend() { alarm.suspend() }

    /// Goes on after `suspend()`; what came due meanwhile is done once.
    nonisolated func resume() { alarm.resume() }

    /// Ends the session and lets none begin.
    nonisolated func close() {
        orders.withLock { $0.isClosed = true }
        startTask { await self.settle() }
    }
}
