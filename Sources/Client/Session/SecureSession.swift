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
        var renewal = SessionRenewal.heartbeat
        var failure: ContentKeyError?
    }

    /// What was ordered from outside; takes effect as soon as nothing is under way.
    private struct Orders {
        var source = 1
        var isClosed = false
    }

    private struct Handlers {
        var renew: (@Sendable () -> Void)?
        var fail: (@Sendable (ContentKeyError) -> Void)?
    }

    private enum Step { case setup(source: Int), renewal, teardown }

    /// Where the session stands.
    public private(set) var state = SessionState.off

    private let caller: ServiceCaller
    private let report: Report
    private let alarm: SessionAlarm
    private let orders = Locked(Orders())
    private let handlers = Locked(Handlers())

    private var live: Live?
    /// Who waits for a setup, by source.
    private var setups: [Int: SharedFetch<Void>] = [:]
    private var failedSource: Int?
    private var openLicenses = 0
    private var openRenewals = 0
    private var isDue = false
    private var isMakingStep = false
    /// Counts setups, so that one that is given up changes no state later.
    private var setupNumber = 0
    /// The suspensions at the time when the player was asked for a renewal that has not come yet.
    private var playerAskedAtSuspension: Int?

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

// MARK: - Licenses

extension SecureSession {
    /// One license request's part in the session.
    struct Use: Sendable {
        let source: Int
        let purpose: KeyPurpose
        let start: Duration
    }

    /// Makes a license request within the session, which is opened first where there is none.
    /// - Parameter request: makes it, with a closure that gives the session's values for each attempt.
    func license(
        for purpose: KeyPurpose,
        _ request: (@escaping @Sendable () async throws -> [String: Secret]) async throws(ContentKeyError) -> License
    ) async throws(ContentKeyError) -> License {
        let use = try await begin(purpose)
        do throws(ContentKeyError) {
            let license = try await request { try await self.values(use) }
            end(use, .success(license))
            return license
        } catch {
            end(use, .failure(error))
            throw error
        }
    }

    /// The session's values for a license request that the player sends itself.
    func values(for purpose: KeyPurpose) async throws(ContentKeyError) -> [String: Secret] {
        let use = try await begin(purpose)
        defer { end(use, nil) }
        return try values(use)
    }

    /// Takes note of a license that the player received itself.
    nonisolated func note(_ license: License, _ purpose: KeyPurpose) {
        let source = orders.withLock { $0.source }
        Task { await learn(license, Use(source: source, purpose: purpose, start: caller.timekeeper.uptime)) }
    }

    private func begin(_ purpose: KeyPurpose) async throws(ContentKeyError) -> Use {
        let orders = orders.withLock { $0 }
        if purpose != .renewal, !orders.isClosed, live?.source != orders.source { try await setUp(orders.source) }
        let use = Use(source: orders.source, purpose: purpose, start: caller.timekeeper.uptime)
        _ = try values(use)
        openLicenses += 1
        if purpose == .renewal { openRenewals += 1 }
        return use
    }

    private func setUp(_ source: Int) async throws(ContentKeyError) {
        let setup = setups[source] ?? SharedFetch()
        setups[source] = setup
        settle()
        do {
            try await setup.value()
        } catch {
            throw ContentKeyError(error, stage: .setup, otherwise: .integrationFailed)
        }
    }

    private func values(_ use: Use) throws(ContentKeyError) -> [String: Secret] {
        guard let live, live.source == use.source else { throw .sessionEnded }
        if let failure = live.failure { throw failure }
        return live.values
    }

    private func end(_ use: Use, _ result: Result<License, ContentKeyError>?) {
        openLicenses -= 1
        if use.purpose == .renewal { openRenewals -= 1 }
        switch result {
        case .success(let license): learn(license, use)
        case .failure(let error) where use.purpose == .renewal && error.kind != .cancelled:
            // The lease of a session that heartbeats keep alive is the key's own matter.
            if live?.source == use.source, live?.renewal == .enforced { fail(error) }
        case .failure, nil: break
        }
        settle()
    }

    private func learn(_ license: License, _ use: Use) {
        guard var live, live.source == use.source, live.failure == nil else { return }
        live.values.merge(license.sideValues.filter { live.values[$0.key] != nil }) { $1 }
        if use.purpose == .renewal {
            playerAskedAtSuspension = nil
            if !isMakingStep { keepUp(since: use.start, live) }
        } else if caller.integration.sessionRenewal(after: license) == .enforced {
            live.renewal = .enforced
        }
        self.live = live
    }
}

// MARK: - Steps

extension SecureSession {
    /// Makes the next step that the state calls for, one at a time. Called after every change.
    private func settle() {
        let orders = orders.withLock { $0 }
        for (source, setup) in setups where orders.isClosed || source != orders.source {
            setups[source] = nil
            setup.end(.failure(orders.isClosed ? ContentKeyError.cancelled : .sessionEnded))
        }
        guard !isMakingStep else { return }
        if live == nil, state == .error, orders.isClosed || failedSource != orders.source { move(to: .off) }
        guard let step = nextStep(orders) else { return }
        isMakingStep = true
        Task {
            await make(step)
            isMakingStep = false
            settle()
        }
    }

    private func nextStep(_ orders: Orders) -> Step? {
        guard let live else {
            return !orders.isClosed && setups[orders.source] != nil ? .setup(source: orders.source) : nil
        }
        if orders.isClosed || live.source != orders.source {
            alarm.clear()
            return openLicenses == 0 ? .teardown : nil
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
        guard let live else { return }
        let start = caller.timekeeper.uptime
        isDue = false
        move(to: .renewalRequested)
        guard live.renewal == .heartbeat else { return askPlayer() }
        do {
            let reply = try await ask(.heartbeat, live.values)
            guard var live = self.live, live.failure == nil else { return }
            live.values.merge(reply.values) { $1 }
            self.live = live
            keepUp(since: start, live)
        } catch {
            fail(error)
        }
    }

    private func askPlayer() {
        guard let renew = handlers.withLock({ $0.renew }) else { return fail(.sessionWithoutPlayer) }
        awaitPlayer()
        renew()
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
    private func keepUp(since start: Duration, _ live: Live) {
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

    private func fail(_ error: ContentKeyError) {
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
