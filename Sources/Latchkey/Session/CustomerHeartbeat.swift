import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// Keeps an app's own session alive: calls the app or the player as often as the last license says.
final class CustomerHeartbeat: Sendable {
    private struct State {
        var isStopped = false
        var task: Task<Void, Never>?
        var renew: (@Sendable () -> Void)?
        var fail: (@Sendable (ContentKeyError) -> Void)?
    }

    /// The longest time between two calls, in seconds: a year.
    private static let longestPeriod = 31_536_000

    private let callbacks: any CustomerSessionCallbacks
    private let timekeeper: any Timekeeper
    private let alarm: Alarm
    private let state = Locked(State())

    init(_ callbacks: any CustomerSessionCallbacks, _ timekeeper: any Timekeeper) {
        self.callbacks = callbacks
        self.timekeeper = timekeeper
        alarm = Alarm(timekeeper)
    }

    func attach(_ renew: @escaping @Sendable () -> Void, _ fail: @escaping @Sendable (ContentKeyError) -> Void) {
        state.withLock { state in
            state.renew = renew
            state.fail = fail
        }
    }

    func suspend() { alarm.suspend() }
    func resume() { alarm.resume() }

    /// Stops all calls.
    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            alarm.clear()
            return state.task
        }
        task?.cancel()
    }

    /// Follows a license from now on. A renewed license without a heartbeat stops the calls; a first one leaves those that other
    /// keys of the source began.
    func follow(_ license: CustomerLicense, _ purpose: KeyPurpose, since start: Duration) {
        guard license.heartbeat > 0 else {
            if purpose == .renewal { alarm.clear() }
            return
        }
        let period = Duration.seconds(Int64(min(license.heartbeat, Self.longestPeriod)))
        set(at: start + period, period, license.renewType)
    }

    private func set(at due: Duration, _ period: Duration, _ type: SessionRenewal) {
        state.withLock { state in
            guard !state.isStopped else { return }
            alarm.set(at: due) { [weak self] in self?.ring(period, type) }
        }
    }

    private func ring(_ period: Duration, _ type: SessionRenewal) {
        // The next time is set first, so that a player or an app that does not react is asked again.
        set(at: timekeeper.uptime + period, period, type)
        switch type {
        case .enforced: state.withLock { $0.renew }?()
        case .heartbeat: beat()
        }
    }

    /// Calls the app unless its last call has not returned.
    private func beat() {
        state.withLock { state in
            guard !state.isStopped, state.task == nil else { return }
            state.task = startTask { [weak self, callbacks] in
                let result = await Result { try await callbacks.heartbeat() }
                self?.heartbeatEnded(result)
            }
        }
    }

    private func heartbeatEnded(_ result: Result<Void, any Error>) {
        let fail = state.withLock { state -> (@Sendable (ContentKeyError) -> Void)? in
            state.task = nil
            guard case .failure = result, !state.isStopped else { return nil }
            state.isStopped = true
            alarm.clear()
            return state.fail
        }
        guard case .failure(let error) = result else { return }
        fail?(ContentKeyError(error, stage: .heartbeat, otherwise: .integrationFailed))
    }
}
