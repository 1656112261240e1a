import LatchkeyCore
import LatchkeyVendors

/// License requests within a session.
extension SecureSession {
    /// One license request's part in the session.
    struct Use: Sendable {
        let number: Int
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
        startTask { [self] in
            let use = Use(number: 0, source: source, purpose: purpose, start: caller.timekeeper.uptime)
            await learn(license, use, sentWith: nil)
        }
    }

    private func begin(_ purpose: KeyPurpose) async throws(ContentKeyError) -> Use {
        let orders = orders.withLock { $0 }
        if purpose != .renewal, !orders.isClosed, live?.source != orders.source { try await setUp(orders.source) }
        lastLicense += 1
        let use = Use(
            number: lastLicense, source: orders.source, purpose: purpose, start: caller.timekeeper.uptime)
        // The source may have ended while the setup was awaited; a teardown that is due waits for no later license.
        guard self.orders.withLock({ $0.source == use.source && !$0.isClosed }) else { throw .sessionEnded }
        openLicenses[use.number] = try liveSession(of: use).version
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
        let live = try liveSession(of: use)
        // An attempt that was given up may ask after its license request has ended.
        if openLicenses[use.number] != nil { openLicenses[use.number] = live.version }
        return live.values
    }

    private func liveSession(of use: Use) throws(ContentKeyError) -> Live {
        guard let live, live.source == use.source else { throw .sessionEnded }
        if let failure = live.failure { throw failure }
        return live
    }

    private func end(_ use: Use, _ result: Result<License, ContentKeyError>?) {
        let version = openLicenses.removeValue(forKey: use.number)
        if use.purpose == .renewal { openRenewals -= 1 }
        switch result {
        case .success(let license): learn(license, use, sentWith: version)
        case .failure(let error) where use.purpose == .renewal && error.kind != .cancelled:
            // The lease of a session that heartbeats keep alive is the key's own matter.
            if live?.source == use.source, live?.renewal == .enforced { fail(error) }
        case .failure, nil: break
        }
        settle()
    }

    private func learn(_ license: License, _ use: Use, sentWith version: Int?) {
        guard var live, live.source == use.source, live.failure == nil else { return }
        // A token that answers an older one than the last heartbeat's would put the session back.
        if version == nil || version == live.version { live.replace(license.sideValues) }
        if use.purpose != .renewal, caller.integration.sessionRenewal(after: license) == .enforced {
            live.renewal = .enforced
        }
        self.live = live
        // In a session that heartbeats keep alive, a renewal is the lease's business and no heartbeat.
        guard use.purpose == .renewal, live.renewal == .enforced, !isMakingStep else { return }
        playerAskedAtSuspension = nil
        keepUp(since: use.start, live)
    }
}
