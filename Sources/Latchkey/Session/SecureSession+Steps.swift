import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// The steps of a session: setup, heartbeats and renewals, teardown.
extension SecureSession {
    /// Takes the next step that the phase and the source call for. Called after every change.
    func advance() {
        let source = players.source()
        for (number, setup) in waiting where number != source {
            waiting[number] = nil
            setup.resolve(.failure(source == nil ? ContentKeyError.cancelled : .sessionEnded))
        }
        if case .setupFailed(let failed) = phase, failed != source { phase = .off }
        // A pending license may still open a session that must be ended.
        if case .awaitingLicense(let awaited) = phase, awaited != source, uses.isEmpty { phase = .off }
        switch phase {
        case .off where source ?? 0 == 0 && uses.isEmpty && waiting.isEmpty: isRemoved = players.remove(self)
        case .off, .setupFailed: if let source, waiting[source] != nil { startSetup(source) }
        case .on(let live), .awaitingRenewal(let live, _), .failed(let live, _):
            guard live.source != source || live.number == lost?.number else { return }
            alarm.clear()
            if uses.isEmpty, !live.isBeating { startTeardown(live) }
        // Their ends call this again.
        case .settingUp, .awaitingLicense, .heartbeat, .tearingDown: break
        }
    }

    private func startSetup(_ source: Int) {
        guard !isOpenedByLicenses else {
            phase = .awaitingLicense(source: source)
            waiting.removeValue(forKey: source)?.resolve(.success(()))
            return
        }
        lastNumber += 1
        // Here and not only when the token is requested: the deadline may pass before.
        phase = .settingUp(number: lastNumber, source: source, isRequested: false)
        startTask { [number = lastNumber] in await self.setUp(number, source) }
    }

    private func setUp(_ number: Int, _ source: Int) async {
        let start = caller.timekeeper.uptime
        let lost = lost?.source == source ? lost : nil
        self.lost = nil
        do {
            let asset = asset(opening: source)
            let reply = try await ask(.setup, [:], of: asset, number)
            var live = Live(
                source: source, number: number, asset: asset, period: reply.period ?? .seconds(60), values: reply.values
            )
            if let lost { live.renewal = lost.renewal }
            keepUp(live, since: start)
            waiting.removeValue(forKey: source)?.resolve(.success(()))
            if lost != nil, source == players.source() { _ = players.renew() }
        } catch {
            phase = .setupFailed(source: source)
            trace.send(.sessionFailed(error))
            waiting.removeValue(forKey: source)?.resolve(.failure(error))
            if lost != nil { players.fail(error) }
        }
        advance()
    }

    /// Opens another session in place of one that the service ended while the app was away, and renews the keys in it.
    func reopen(_ live: Live, _ error: ContentKeyError) {
        trace.send(.sessionFailed(error))
        lost = live
        waiting[live.source] = waiting[live.source] ?? Promise()
        phase = .on(live)
        advance()
    }

    /// Notes how far a setup is, unless it was given up.
    private func noteSetup(_ number: Int, isRequested: Bool) {
        guard case .settingUp(number, let source, _) = phase else { return }
        phase = .settingUp(number: number, source: source, isRequested: isRequested)
    }

    /// Notes that the session lives; the next heartbeat is due a period after the last was sent.
    func keepUp(_ live: Live, since start: Duration) {
        var live = live
        live.seen = start
        phase = .on(live)
        if let period = live.period { setAlarm(at: start + period) } else { alarm.clear() }
    }

    private func setAlarm(at due: Duration) { alarm.set(at: due) { [weak self] in await self?.ring() } }

    private func ring() {
        switch phase {
        case .on(let live):
            guard live.source == players.source() else { return advance() }
            if live.renewal == .heartbeat { startHeartbeat(live) } else { askPlayers(live) }
        case .awaitingRenewal(let live, let suspensions):
            // A pending renewal has its own deadline, and the player of a suspended app could not respond.
            let isRenewing = uses.values.contains { $0.purpose == .renewal }
            guard !isRenewing, suspensions == alarm.suspensions else { return awaitRenewal(live) }
            fail(.sessionNotRenewed(within: caller.configuration.retry.deadline))
            advance()
        case .off, .settingUp, .setupFailed, .awaitingLicense, .heartbeat, .tearingDown, .failed: break
        }
    }

    private func startHeartbeat(_ live: Live) {
        var live = live
        live.isBeating = true
        phase = .heartbeat(live)
        startTask { [live] in await self.beat(live) }
    }

    private func beat(_ sent: Live) async {
        let start = caller.timekeeper.uptime
        let reply: Result<SessionReply, ContentKeyError>
        do throws(ContentKeyError) {
            reply = .success(try await ask(.heartbeat, sent.values, of: sent.asset))
        } catch {
            reply = .failure(error)
        }
        // It says nothing about a session that was opened anew meanwhile.
        guard var live = phase.live, live.number == sent.number else { return }
        live.isBeating = false
        phase = phase.with(live)
        switch reply {
        case .success(let reply):
            // It may have failed meanwhile.
            guard case .heartbeat = phase else { break }
            live.replace(reply.values)
            keepUp(live, since: start)
        case .failure(let error) where isOpenedByLicenses: missHeartbeat(error, of: live, sent.version)
        // A license was refused before, and another session will be opened.
        case .failure where live.number == lost?.number: break
        case .failure(let error) where live.isStale(at: caller.timekeeper.uptime):
            if case .heartbeat = phase { reopen(live, error) }
        case .failure(let error): fail(error)
        }
        advance()
    }

    /// Continues after a failed heartbeat in a session that a license opened.
    /// - Parameter version: of the values that the heartbeat was sent with.
    private func missHeartbeat(_ error: ContentKeyError, of live: Live, _ version: Int) {
        guard case .heartbeat = phase else { return }
        let isRenewing = uses.values.contains { $0.source == live.source }
        switch error.kind {
        // A newer license, or a pending one, proves the session alive.
        case _ where live.version != version: keepUp(live, since: caller.timekeeper.uptime)
        case .forbidden, .concurrencyLimit, .regionDenied: if isRenewing { lapse(live) } else { fail(error) }
        // The service knows no such session, or no longer.
        case .notFound:
            lapse(live)
            if !isRenewing, live.source == players.source() { _ = players.renew() }
        default:
            trace.send(.sessionFailed(error))
            keepUp(live, since: caller.timekeeper.uptime)
        }
    }

    /// Leaves opening a session to the next license.
    private func lapse(_ live: Live) {
        alarm.clear()
        phase = .awaitingLicense(source: live.source)
    }

    private func askPlayers(_ live: Live) {
        awaitRenewal(live)
        if !players.renew() { fail(.sessionWithoutPlayer) }
    }

    private func awaitRenewal(_ live: Live) {
        phase = .awaitingRenewal(live, suspensions: alarm.suspensions)
        setAlarm(at: caller.timekeeper.uptime + caller.configuration.retry.deadline)
    }

    /// Ends the keys, because the session could not be kept alive.
    func fail(_ error: ContentKeyError) {
        switch phase {
        case .on(let live), .heartbeat(let live), .awaitingRenewal(let live, _):
            alarm.clear()
            phase = .failed(live, error)
            trace.send(.sessionFailed(error))
            players.fail(error)
        case .off, .settingUp, .setupFailed, .awaitingLicense, .tearingDown, .failed: break
        }
    }

    private func startTeardown(_ live: Live) {
        phase = .tearingDown(live)
        startTask { await self.tearDown(live) }
    }

    private func tearDown(_ live: Live) async {
        do { _ = try await ask(.teardown, live.values, of: live.asset) } catch { trace.send(.sessionFailed(error)) }
        phase = .off
        if lost?.source != players.source() { lost = nil }
        advance()
    }

    /// Calls the service.
    /// - Parameter number: of a setup.
    private func ask(
        _ step: SessionStep, _ values: [String: Secret], of asset: AssetID?, _ number: Int = 0
    ) async throws(ContentKeyError) -> SessionReply {
        let integration = caller.integration
        let stage = ContentKeyError.Stage(step)
        let start = caller.timekeeper.uptime
        defer { trace.send(.stageEnded(stage, took: caller.timekeeper.uptime - start)) }
        return try await caller.perform(
            .init(
                asking: Credentials.Request(.session, stage: stage, asset: asset),
                alsoSecret: Array(values.values), trace: trace,
                makeRequest: { [weak self] issued in
                    await self?.noteSetup(number, isRequested: false)
                    let request = try await integration.sessionRequest(
                        step, SessionContext(session: values) { try await issued.credentials() })
                    await self?.noteSetup(number, isRequested: true)
                    return request
                },
                read: { [trace] exchange in
                    let reply = try integration.session(from: exchange, step)
                    if let warning = try integration.warning(of: reply) { trace.send(.replyWarning(warning)) }
                    return reply
                }))
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
