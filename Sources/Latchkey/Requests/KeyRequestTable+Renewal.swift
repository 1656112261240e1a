import LatchkeyCore

/// Renewals, which go through the player: it is asked to renew a key, and hands over a new request.
extension KeyRequestTable {
    /// Handles due keys: ends leases, asks players to renew, notes players that did not.
    mutating func ring(at now: Duration, using generator: inout some RandomNumberGenerator) -> [Effect] {
        var (ended, failed, renewals): ([Effect], [Effect], [Effect]) = ([], [], [])
        let due = holders.values.filter { dueTime(of: $0).map { $0 <= now } ?? false }
        for number in due.sorted(by: { generation($0) < generation($1) }) {
            guard let record = records[number] else { continue }
            if let end = record.leaseEnd, end <= now {
                guard record.wasNeverRenewed(before: end) || isRenewedLate(record, after: end) else {
                    ended += endKey(number, ContentKeyError(leaseEndOf: record))
                    continue
                }
                records[number]?.isOverdue = true
                records[number]?.leaseEnd = now + patience
            }
            switch record.state {
            case .held:
                self[number] = .renewalDue(until: now + patience)
                renewals.append(newerKeys(than: record) > 0 ? .review(record.request) : .renew(record.request))
            case .renewalDue:
                let code = ContentKeyError.Kind.playerDidNotRenew.rawValue
                failed += renewalFailed(number, code, at: now, using: &generator)
            case .pending, .stopping, .renewing, .ended: break
            }
        }
        alarm = holders.values.compactMap { dueTime(of: $0) }.min()
        return ended + failed + renewals
    }

    /// Whether a player that renews on its own schedule has only begun to, because the app was away when the lease ended.
    private func isRenewedLate(_ record: Record, after end: Duration) -> Bool {
        guard !record.isOverdue, case .renewing(let renewal) = record.state else { return false }
        return records[renewal].map { $0.asked >= end } ?? false
    }

    /// Makes the renewals of a player's keys due, because its secure session depends on them.
    mutating func renewAll(
        _ player: PlayerID, at now: Duration, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        for (key, number) in holders where key.player == player {
            if case .renewing = self[number] { continue }
            self[number] = .held(renewal: now)
        }
        return ring(at: now, using: &generator)
    }

    /// Renews a key after its player's review, or lets it lapse. If the player was suspended meanwhile, the key is due when it resumes.
    /// - Parameter named: the keys that the player's playlists name; `nil` if they are not known.
    mutating func reviewed(_ request: KeyRequest, _ named: Set<KeyURI>?, at now: Duration) -> [Effect] {
        guard case .renewalDue = self[request.number], let record = records[request.number] else { return [] }
        guard !isReplaced(record, named, at: now) else { return lapse(request.number) }
        guard !suspended.contains(request.key.player) else {
            self[request.number] = .held(renewal: now)
            return []
        }
        return [.renew(request)]
    }

    private mutating func isReplaced(_ record: Record, _ named: Set<KeyURI>?, at now: Duration) -> Bool {
        let newer = newerKeys(than: record)
        guard newer > 0 else { return false }
        let (key, number) = (record.request.key, record.request.number)
        // Playlists that name none of the player's keys are not the ones it plays.
        guard let named, holders.keys.contains(where: { $0.player == key.player && named.contains($0.uri) }) else {
            return newer >= max(1, policy.heldKeys)
        }
        guard !named.contains(key.uri) else {
            records[number]?.absentSince = nil
            return false
        }
        let since = record.absentSince ?? now
        records[number]?.absentSince = since
        guard let end = record.leaseEnd, !record.isOverdue else { return true }
        return end - since >= Self.longestBuffer
    }

    /// How many keys the player requested after a key and the keys that came with it.
    private func newerKeys(than record: Record) -> Int {
        holders.count { key, number in
            guard key.player == record.request.key.player, let asked = records[number]?.asked else { return false }
            return asked - record.asked > Self.oneStart
        }
    }

    /// Keys that are requested within this time belong to one start, and do not replace each other.
    private static let oneStart = Duration.seconds(10)
    /// The longest part of a live stream that a player may have loaded but not played when the playlists have moved on.
    private static let longestBuffer = Duration.seconds(60)

    /// Ends a player's held keys with an error, because their session failed.
    mutating func endKeys(_ player: PlayerID, _ error: ContentKeyError) -> [Effect] {
        holders.filter { $0.key.player == player }.values.sorted { generation($0) < generation($1) }
            .flatMap { endKey($0, error) }
    }

    /// Notes that a player that was asked to renew a key cannot.
    mutating func cannotRenew(_ request: KeyRequest) -> [Effect] {
        guard case .renewalDue = self[request.number], let record = records[request.number] else { return [] }
        self[request.number] = .held(renewal: nil)
        guard !record.isOverdue else { return endKey(request.number, ContentKeyError(leaseEndOf: record)) }
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
        keepLapsed(record.request)
        var effects = [Effect.send(record.request, .ended(error))]
        if case .renewing(let renewal) = record.state, let request = records[renewal]?.request {
            effects += stop(request, error)
        }
        return effects + [.end(record.request, error)]
    }

    /// Sets the alarm to ring no later than a key is due. An alarm that rings in vain costs less than a look at a thousand keys whenever
    /// one of them changes.
    mutating func setAlarm(for number: Int) {
        guard let due = dueTime(of: number) else { return }
        alarm = min(alarm ?? due, due)
    }

    /// When something is due for a key; `nil` if nothing is, or its player is suspended.
    private func dueTime(of number: Int) -> Duration? {
        guard let record = records[number], !suspended.contains(record.request.key.player) else { return nil }
        return record.due
    }
}

extension KeyRequestTable.Record {
    /// Whether the renewal that was due before the lease ended was never requested, because the app was away.
    fileprivate func wasNeverRenewed(before end: Duration) -> Bool {
        guard !isOverdue, failures == 0, case .held(let due?) = state else { return false }
        return due < end
    }

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
            remedy =
                "When the service can be reached, ask for the key again: AVPlayerKeys.renewEndedKeys(), or the player's own way."
        case (_, nil):
            why = "no renewal came in time"
            remedy = "Ask for the key again: AVPlayerKeys.renewEndedKeys(), or the player's own way."
        }
        self.init(
            .leaseEnded, stage: .license, "The key's lease\(lease) ended: \(why).", remedy: remedy, isRetryable: true)
    }
}
