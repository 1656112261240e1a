import LatchkeyCore
import LatchkeyVendors

/// The steps of a session: what is next, and what becomes of it.
extension SecureSession {
    /// Makes the next step that the state calls for, one at a time. Called after every change.
    func settle() {
        let orders = orders.withLock { $0 }
        for (source, setup) in setups where orders.isClosed || source != orders.source {
            setups[source] = nil
            setup.end(.failure(orders.isClosed ? ContentKeyError.cancelled : .sessionEnded))
        }
        guard !isMakingStep else { return }
        if live == nil, state == .error, orders.isClosed || failedSource != orders.source { move(to: .off) }
        guard let step = nextStep(orders) else { return }
        isMakingStep = true
        startTask { await self.complete(step) }
    }

    private func complete(_ step: Step) async {
        await make(step)
        isMakingStep = false
        settle()
    }

    private func nextStep(_ orders: Orders) -> Step? {
        guard let live else {
            return !orders.isClosed && setups[orders.source] != nil ? .setup(source: orders.source) : nil
        }
        if orders.isClosed || live.source != orders.source {
            alarm.clear()
            return openLicenses.isEmpty ? .teardown : nil
        }
        return isDue && live.failure == nil ? .renewal : nil
    }

    private func make(_ step: Step) async {
        switch step {
        case .setup(let source): await setUp(for: source)
        case .renewal: await renew()
        case .teardown: await tearDown()
        }
    }

    private func setUp(for source: Int) async {
        setupNumber += 1
        // Said here and not only when the token is asked for: the deadline may pass before.
        move(to: .awaitingContentToken)
        let start = caller.timekeeper.uptime
        do {
            let reply = try await ask(.setup, [:])
            setupNumber += 1
            let live = Live(source: source, period: reply.period ?? .seconds(60), values: reply.values)
            self.live = live
            isDue = false
            keepUp(since: start, live)
            setups.removeValue(forKey: source)?.end(.success(()))
        } catch {
            setupNumber += 1
            failedSource = source
            move(to: .error)
            report(.sessionFailed(error))
            setups.removeValue(forKey: source)?.end(.failure(error))
        }
    }

    private func renew() async {
        // It may have failed since the step was chosen.
        guard let live, live.failure == nil else { return }
        let start = caller.timekeeper.uptime
        isDue = false
        move(to: .renewalRequested)
        guard live.renewal == .heartbeat else { return askPlayer() }
        do {
            let reply = try await ask(.heartbeat, live.values)
            guard var live = self.live, live.failure == nil else { return }
            live.replace(reply.values)
            self.live = live
            keepUp(since: start, live)
        } catch {
            fail(error)
        }
    }

    private func askPlayer() {
        awaitPlayer()
        guard handlers.withLock({ $0.renew })?() == true else { return fail(.sessionWithoutPlayer) }
    }

    private func awaitPlayer() {
        playerAskedAtSuspension = alarm.suspensions
        setAlarm(at: caller.timekeeper.uptime + caller.configuration.retry.deadline)
    }

    private func tearDown() async {
        guard let live else { return }
        move(to: .teardownRequested)
        alarm.clear()
        playerAskedAtSuspension = nil
        do { _ = try await ask(.teardown, live.values) } catch { report(.sessionFailed(error)) }
        self.live = nil
        isDue = false
        move(to: .off)
    }
}

// MARK: - State

extension SecureSession {
    private func move(to next: SessionState) {
        guard next != state else { return }
        state = next
        report(.session(next))
    }

    private func moveSetup(_ number: Int, to next: SessionState) {
        if number == setupNumber { move(to: next) }
    }

    /// The session lives; the next heartbeat is due a period after the last was sent.
    func keepUp(since start: Duration, _ live: Live) {
        move(to: .on)
        setAlarm(at: start + live.period)
    }

    private func setAlarm(at due: Duration) { alarm.set(at: due) { [weak self] in await self?.ring() } }

    private func ring() {
        guard let live, live.failure == nil else { return }
        guard let suspension = playerAskedAtSuspension else {
            isDue = true
            return settle()
        }
        // A renewal under way has its own deadline, and the player of a suspended app could not come.
        guard openRenewals == 0, suspension == alarm.suspensions else { return awaitPlayer() }
        fail(.sessionNotRenewed(within: caller.configuration.retry.deadline))
    }

    func fail(_ error: ContentKeyError) {
        guard let live, live.failure == nil else { return }
        self.live?.failure = error
        alarm.clear()
        isDue = false
        playerAskedAtSuspension = nil
        move(to: .error)
        report(.sessionFailed(error))
        handlers.withLock { $0.fail }?(error)
    }

    private func ask(
        _ step: SessionStep, _ values: [String: Secret]
    ) async throws(ContentKeyError) -> SessionReply {
        let integration = caller.integration
        let stage = ContentKeyError.Stage(step)
        let number = setupNumber
        let start = caller.timekeeper.uptime
        defer { report(.stageEnded(stage, took: caller.timekeeper.uptime - start)) }
        return try await caller.perform(
            .init(
                stage: stage, reason: .session, alsoSecret: Array(values.values), report: report,
                makeRequest: { [weak self] issued in
                    if step == .setup { await self?.moveSetup(number, to: .awaitingContentToken) }
                    let request = try await integration.sessionRequest(
                        step, SessionContext(session: values) { try await issued.credentials() })
                    if step == .setup { await self?.moveSetup(number, to: .setupRequested) }
                    return request
                },
                read: { try integration.session(from: $0, step) }))
    }
}

extension ContentKeyError.Stage {
    fileprivate init(_ step: SessionStep) {
        switch step {
        case .setup: self = .setup
        case .heartbeat: self = .heartbeat
        case .teardown: self = .teardown
        }
    }
}
