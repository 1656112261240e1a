import LatchkeyCore

/// Renewals, which go through the player: it is asked to renew a key, and hands over a new request.
extension KeyRequestTable {
    /// Does what is due: ends leases, asks players to renew, notes those that did not.
    mutating func ring(at now: Duration, using generator: inout some RandomNumberGenerator) -> [Effect] {
        var (ended, failed, renewals): ([Effect], [Effect], [Effect]) = ([], [], [])
        let due = holders.values.filter { records[$0]?.due.map { $0 <= now } ?? false }
        for number in due.sorted(by: { generation($0) < generation($1) }) {
            guard let record = records[number] else { continue }
            if let end = record.leaseEnd, end <= now {
                ended += endKey(number, ContentKeyError(leaseEndOf: record))
                continue
            }
            switch record.state {
            case .held:
                self[number] = .renewalDue(until: now + patience)
                renewals.append(.renew(record.request))
            case .renewalDue:
                let code = ContentKeyError.Kind.playerDidNotRenew.rawValue
                failed += renewalFailed(number, code, at: now, using: &generator)
            case .pending, .stopping, .renewing, .ended: break
            }
        }
        alarm = holders.values.compactMap { records[$0]?.due }.min()
        return ended + failed + renewals
    }

    /// Makes the renewals of all keys due, because the secure session depends on them.
    mutating func renewAll(at now: Duration, using generator: inout some RandomNumberGenerator) -> [Effect] {
        for number in holders.values {
            if case .renewing = self[number] { continue }
            self[number] = .held(renewal: now)
        }
        return ring(at: now, using: &generator)
    }

    /// Ends all held keys with an error, because their session failed.
    mutating func endKeys(_ error: ContentKeyError) -> [Effect] {
        holders.values.sorted { generation($0) < generation($1) }.flatMap { endKey($0, error) }
    }

    /// Notes that a player that was asked to renew a key cannot.
    mutating func cannotRenew(_ request: KeyRequest) -> [Effect] {
        guard case .renewalDue = self[request.number] else { return [] }
        self[request.number] = .held(renewal: nil)
        setAlarm(for: request.number)
        let code = ContentKeyError.Kind.playerDidNotRenew.rawValue
        return [.send(request, .renewalFailed(code: code, nextAfter: nil))]
    }

    /// Notes that a renewal's request got no license.
    mutating func renewalFailed(
        _ request: KeyRequest, _ error: ContentKeyError, at now: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        guard let holder = holder(of: request), case .renewing = self[holder] else { return [] }
        return renewalFailed(holder, error.code, at: now, using: &generator)
    }

    private mutating func renewalFailed(
        _ number: Int, _ code: String, at now: Duration, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        guard var record = records[number] else { return [] }
        record.failures += 1
        record.lastFailure = code
        let wait = policy.wait(
            afterFailures: record.failures, untilEnd: record.leaseEnd.map { $0 - now }, using: &generator)
        record.state = .held(renewal: wait.map { now + $0 })
        records[number] = record
        setAlarm(for: number)
        return [.send(record.request, .renewalFailed(code: code, nextAfter: wait))]
    }

    private mutating func endKey(_ number: Int, _ error: ContentKeyError) -> [Effect] {
        guard let record = remove(number) else { return [] }
        var effects = [Effect.send(record.request, .ended(error))]
        if case .renewing(let renewal) = record.state, let request = records[renewal]?.request {
            effects += stop(request, error)
        }
        return effects + [.end(record.request, error)]
    }

    /// Has the alarm ring no later than something is due for a key. An alarm that rings for nothing costs less than a look at a
    /// thousand keys whenever one of them changes.
    mutating func setAlarm(for number: Int) {
        guard let due = records[number]?.due else { return }
        alarm = min(alarm ?? due, due)
    }
}

extension KeyRequestTable.Record {
    /// When something is due for the key; `nil` if nothing is, or if a renewal is pending.
    var due: Duration? {
        switch state {
        case .held(let time?), .renewalDue(let time): leaseEnd.map { min($0, time) } ?? time
        case .held(nil), .renewing: leaseEnd
        case .pending, .stopping, .ended: nil
        }
    }
}

extension ContentKeyError {
    /// The error of a key whose lease ended.
    init(leaseEndOf record: KeyRequestTable.Record) {
        let lease = record.lease.map { " of \($0.components.seconds) s" } ?? ""
        let why: String
        let remedy: String
        switch (record.state, record.lastFailure) {
        case (.held(renewal: nil), nil):
            why = "the player has no way to renew it"
            remedy = "Implement renew() in the player's adapter, or have the license last as long as the stream."
        case (_, let code?):
            why = "\(record.failures.counted("renewal")) failed, the last with \(code)"
            remedy = "Ask for the key again when the service can be reached."
        case (_, nil):
            why = "no renewal came in time"
            remedy = "Ask for the key again; call resume() where the loader was suspended."
        }
        self.init(
            .leaseEnded, stage: .license, "The key's lease\(lease) ended: \(why).", remedy: remedy, isRetryable: true)
    }
}
