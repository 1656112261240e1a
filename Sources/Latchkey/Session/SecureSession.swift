import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// A vendor's secure session to which the licenses of one source belong.
///
/// The loader has one for each player: it opens the session before the first license, once for keys that are requested together, and ends
/// it when the player has released its last key or is released. A heartbeat keeps it alive, as often as the service says, or a renewal of
/// the licenses if the license's reply said so. When it fails, each held key ends with the error.
///
/// Some services have no setup: the first license opens the session. There the licenses carry the playback, so only a refused heartbeat
/// ends the keys: a lost one is sent again after a period, and if a session has lapsed the player requests its keys again, which opens
/// another.
///
/// Ending waits for pending license requests and a pending heartbeat, so that none of them reaches a service that has forgotten the
/// session. Source: `Documentation/Vendors/NAGRA.md` §2 and `Documentation/Vendors/Latchkey.md`.
actor SecureSession {
    /// The session's access to its player.
    struct Players: Sendable {
        /// The number of the source that plays; 0 for none, `nil` once the loader is closed.
        let source: @Sendable () -> Int?
        /// Asks the player to request its keys again, with new SPCs and the purpose `renewal`. Returns whether it can.
        let renew: @Sendable () -> Bool
        /// Ends the keys, because the session could not be kept alive; called once for a session.
        let fail: @Sendable (ContentKeyError) -> Void
        /// Removes the session, which has ended. Returns `false` if another license wants it.
        var remove: @Sendable (SecureSession) -> Bool = { _ in false }
    }

    /// A session that the service keeps.
    struct Live {
        let source: Int
        /// The number of the setup that opened the session; 0 if a license did.
        var number = 0
        /// The title whose key opened the session.
        let asset: AssetID?
        /// The time between two heartbeats; `nil` for none.
        var period: Duration?
        var values: [String: Secret]
        /// Counts changes of the values.
        var version = 0
        /// The time of the last sign of life, by the timekeeper's uptime.
        var seen = Duration.zero
        /// The mechanism that keeps the session alive.
        var renewal = SessionRenewal.heartbeat
        /// Whether a heartbeat is pending.
        var isBeating = false

        /// Whether the service has had no contact for so long that it may have ended the session, because the app was away.
        func isStale(at now: Duration) -> Bool { period.map { now - seen > $0 * 2 } ?? false }

        /// Replaces values by newer ones of the same names.
        mutating func replace(_ newer: [String: Secret]) {
            let replacing = newer.filter { values[$0.key] != nil }
            guard !replacing.isEmpty else { return }
            values.merge(replacing) { $1 }
            version += 1
        }
    }

    /// The state of the session, with its values.
    enum Phase {
        case off
        /// The setup with a number is pending.
        case settingUp(number: Int, source: Int, isRequested: Bool)
        case setupFailed(source: Int)
        /// There is no setup; a license of the source opens the session.
        case awaitingLicense(source: Int)
        case on(Live)
        case heartbeat(Live)
        /// The player was asked for a renewal; the alarm's suspensions at that time.
        case awaitingRenewal(Live, suspensions: Int)
        case tearingDown(Live)
        /// The session could not be kept alive; the service still has it.
        case failed(Live, ContentKeyError)

        var state: SessionState {
            switch self {
            case .off, .awaitingLicense: .off
            case .settingUp(_, _, false): .awaitingContentToken
            case .settingUp(_, _, true): .setupRequested
            case .on: .on
            case .heartbeat, .awaitingRenewal: .renewalRequested
            case .tearingDown: .teardownRequested
            case .setupFailed, .failed: .error
            }
        }

        /// The session at the service; `nil` if there is none or it is unknown yet.
        var live: Live? {
            switch self {
            case .on(let live), .heartbeat(let live), .awaitingRenewal(let live, _), .tearingDown(let live),
                .failed(let live, _):
                live
            case .off, .settingUp, .setupFailed, .awaitingLicense: nil
            }
        }

        /// The source whose licenses need no setup before them, or `nil`.
        var source: Int? {
            if case .awaitingLicense(let source) = self { source } else { live?.source }
        }

        /// Whether there is no session, and none is being opened.
        var isOver: Bool {
            switch self {
            case .off, .setupFailed: true
            case .settingUp, .awaitingLicense, .on, .heartbeat, .awaitingRenewal, .tearingDown, .failed: false
            }
        }

        /// The same phase with a changed session.
        func with(_ live: Live) -> Self {
            switch self {
            case .on: .on(live)
            case .heartbeat: .heartbeat(live)
            case .awaitingRenewal(_, let suspensions): .awaitingRenewal(live, suspensions: suspensions)
            case .tearingDown: .tearingDown(live)
            case .failed(_, let error): .failed(live, error)
            case .off, .settingUp, .setupFailed, .awaitingLicense: self
            }
        }
    }

    /// The state of the session.
    var state: SessionState { phase.state }

    let caller: ServiceCaller
    /// Whether licenses open sessions, and not setups.
    let isOpenedByLicenses: Bool
    let trace: Trace
    let alarm: Alarm
    let players: Players
    var phase = Phase.off {
        didSet { if phase.state != oldValue.state { trace.send(.session(phase.state)) } }
    }
    /// The license requests that wait for a setup, by source.
    var waiting: [Int: Promise<Void, any Error>] = [:]
    /// The pending license requests.
    var uses: [Int: Use] = [:]
    /// Numbers license requests and setups.
    var lastNumber = 0
    /// Whether the player no longer has this session.
    var isRemoved = false
    /// The session that another one will replace.
    var lost: Live?
    /// The latest source that a key was requested for, and the title of its first key.
    private var opener: (source: Int, asset: AssetID?)?

    init(_ caller: ServiceCaller, _ trace: Trace, _ players: Players) {
        self.caller = caller
        isOpenedByLicenses = caller.integration.sessionScope == .license
        self.trace = trace
        self.players = players
        alarm = Alarm(caller.timekeeper)
    }

    /// Ends the session if another source plays or the loader is closed; the next key of a new source opens one.
    nonisolated func sourceChanged() { startTask { await self.advance() } }

    /// Stops heartbeats until `resume()`, for an app in the background that does not play.
    nonisolated func suspend() { alarm.suspend() }

    /// Continues after `suspend()`. An overdue heartbeat is sent once.
    nonisolated func resume() { alarm.resume() }
}

// MARK: - Licenses

/// License requests within a session.
extension SecureSession {
    /// One license request within the session.
    struct Use {
        let number: Int
        let source: Int
        let purpose: KeyPurpose
        let start: Duration
        /// The number of the session.
        let session: Int?
        /// The version of the values that the request was sent with.
        var version: Int?
    }

    /// Makes a license request within the session, which is opened first if there is none.
    /// - Parameters:
    ///   - asset: the title of the key.
    ///   - request: makes it, with a closure that returns the session's values for each attempt.
    func license(
        for purpose: KeyPurpose, _ asset: AssetID?,
        _ request: (@escaping @Sendable () async throws -> [String: Secret]) async throws(ContentKeyError) -> License
    ) async throws(ContentKeyError) -> License {
        let use = try await begin(purpose, asset)
        do throws(ContentKeyError) {
            let license = try await request { try await self.values(use.number, of: use.source) }
            end(use.number, .success(license))
            return license
        } catch {
            let isReopening = reopens(after: error, of: use)
            end(use.number, .failure(error))
            // A session that was just opened is not stale, so this ends.
            guard isReopening else { throw error }
            return try await self.license(for: purpose, asset, request)
        }
    }

    /// Opens another session if a license was refused in one that the service may have ended while the app was away.
    /// - Returns: Whether another is open, or will be.
    private func reopens(after error: ContentKeyError, of use: Use) -> Bool {
        let refusals: [Diagnosis.Kind] = [.unauthenticated, .forbidden, .notFound, .sessionEnded]
        guard !isOpenedByLicenses, refusals.contains(error.kind) else { return false }
        switch phase {
        case .on(let live), .heartbeat(let live), .awaitingRenewal(let live, _):
            // Another request or the heartbeat may have noticed first.
            let isOther = live.number != use.session || live.number == lost?.number
            guard live.source == use.source, !isOther else { return live.source == use.source }
            guard live.isStale(at: caller.timekeeper.uptime) else { return false }
            reopen(live, error)
            return true
        case .settingUp(_, let source, _): return source == use.source
        case .tearingDown: return lost?.source == use.source
        case .off, .setupFailed, .awaitingLicense, .failed: return false
        }
    }

    /// The session's values for a license request that the player sends itself.
    func values(for purpose: KeyPurpose, _ asset: AssetID?) async throws(ContentKeyError) -> [String: Secret] {
        let use = try await begin(purpose, asset)
        defer { end(use.number, nil) }
        return try values(use.number, of: use.source)
    }

    /// Notes a license that the player received itself.
    nonisolated func note(_ license: License, _ purpose: KeyPurpose) {
        guard let source = players.source() else { return }
        startTask { [self] in
            await learn(
                license,
                Use(number: 0, source: source, purpose: purpose, start: caller.timekeeper.uptime, session: nil))
        }
    }

    private func begin(_ purpose: KeyPurpose, _ asset: AssetID?) async throws(ContentKeyError) -> Use {
        // A request that joined the session before its source ended is too late: a new source has another session.
        guard !isRemoved, let source = players.source() else { throw .sessionEnded }
        if opener?.source != source { opener = (source, asset) }
        // Keys that ended with their session are requested by renewals.
        let opens = purpose != .renewal || isOpenedByLicenses || phase.isOver
        let isOpening = waiting[source] != nil || lost?.source == source
        if isOpening || opens && phase.source != source { try await setUp(source) }
        // The source may have changed meanwhile; a due teardown waits for no later license.
        guard players.source() == source else { throw .sessionEnded }
        let live = try liveSession(of: source)
        lastNumber += 1
        let use = Use(
            number: lastNumber, source: source, purpose: purpose, start: caller.timekeeper.uptime,
            session: live?.number, version: live?.version)
        uses[use.number] = use
        return use
    }

    /// The title whose key opens the session of a source; `nil` if the app named none.
    func asset(opening source: Int) -> AssetID? { opener?.source == source ? opener?.asset : nil }

    /// Waits until the session of a source is open.
    private func setUp(_ source: Int) async throws(ContentKeyError) {
        let setup = waiting[source] ?? Promise()
        waiting[source] = setup
        advance()
        do {
            try await setup.value
        } catch {
            throw ContentKeyError(error, stage: .setup, otherwise: .integrationFailed)
        }
    }

    private func values(_ number: Int, of source: Int) throws(ContentKeyError) -> [String: Secret] {
        let live = try liveSession(of: source)
        // An abandoned attempt may ask after its license request has ended.
        uses[number]?.version = live?.version
        return live?.values ?? [:]
    }

    /// - Returns: `nil` if a license is to open the session.
    private func liveSession(of source: Int) throws(ContentKeyError) -> Live? {
        if case .awaitingLicense(source) = phase { return nil }
        guard let live = phase.live, live.source == source else { throw .sessionEnded }
        if case .failed(_, let error) = phase { throw error }
        return live
    }

    private func end(_ number: Int, _ result: Result<License, ContentKeyError>?) {
        guard let use = uses.removeValue(forKey: number) else { return }
        switch result {
        case .success(let license): learn(license, use)
        case .failure(let error) where use.purpose == .renewal && error.kind != .cancelled:
            // In a session kept alive by heartbeats, the lease is the key's own matter.
            if lost == nil, let live = phase.live, live.source == use.source, live.renewal == .enforced { fail(error) }
        case .failure, nil: break
        }
        advance()
    }

    private func learn(_ license: License, _ use: Use) {
        if isOpenedByLicenses { return learn(checked(caller.integration.session(openedBy: license)), use) }
        guard var live = try? liveSession(of: use.source) else { return }
        // A value older than the last heartbeat's reply would set the session back.
        if use.version == nil || use.version == live.version { live.replace(license.sideValues) }
        if use.purpose != .renewal, caller.integration.sessionRenewal(after: license) == .enforced {
            live.renewal = .enforced
        }
        phase = phase.with(live)
        // In a session kept alive by heartbeats, a renewal concerns the lease and is not a heartbeat.
        guard use.purpose == .renewal, live.renewal == .enforced else { return }
        switch phase {
        case .on, .awaitingRenewal: keepUp(live, since: use.start)
        case .off, .settingUp, .setupFailed, .awaitingLicense, .heartbeat, .tearingDown, .failed: break
        }
    }

    /// The session without an unusable period, which is reported.
    private func checked(_ opened: SessionReply?) -> SessionReply? {
        guard var opened else { return nil }
        do throws(IntegrationError) {
            if let warning = try caller.integration.warning(of: opened) { trace.send(.replyWarning(warning)) }
        } catch {
            trace.send(.sessionFailed(ContentKeyError(error, stage: .heartbeat)))
            opened.period = nil
        }
        return opened
    }

    /// Takes a session from a license: the source's first, or a newer state of it.
    private func learn(_ opened: SessionReply?, _ use: Use) {
        guard let opened, phase.source == use.source else { return }
        guard var live = phase.live else {
            let asset = asset(opening: use.source)
            let live = Live(source: use.source, asset: asset, period: opened.period, values: opened.values)
            return keepUp(live, since: use.start)
        }
        live.replace(opened.values)
        live.period = opened.period
        // A license is as good as a heartbeat.
        if case .on = phase { keepUp(live, since: use.start) } else { phase = phase.with(live) }
    }
}
