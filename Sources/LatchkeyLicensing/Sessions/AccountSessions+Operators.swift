package import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem
package import LatchkeyVault

// Operators' views and actions. Source: `Documentation/LicenseServer.md` §7.1.
extension AccountSessions {
    /// The accounts of a tenant with stored state, in the order of their names' bytes.
    /// - Parameters:
    ///   - tenant: the tenant.
    ///   - prefix: how the names begin.
    ///   - name: only names after this one; `nil` for the first page.
    ///   - limit: the most accounts, 1 to 1,000.
    /// - Throws: `StoreError`; `damaged` if one of them cannot be read.
    package func accounts(
        of tenant: String, prefix: String = "", after name: String? = nil, limit: Int = 100
    ) async throws(StoreError) -> [NamedAccount] {
        let records = try await accounts.all.page(of: .account, tenant, prefix: prefix, after: name, limit: limit)
        var named: [NamedAccount] = []
        for one in records {
            let account = try accounts.account(in: one.record)
            named.append(NamedAccount(name: one.name, account: account, end: one.end))
        }
        return named
    }

    /// How many slots of a tenant's accounts are in use. An account that cannot be read counts none.
    /// - Parameters:
    ///   - tenant: the tenant.
    ///   - most: about how many accounts to read, at most, among those of server versions that kept no count.
    /// - Throws: `StoreError`.
    package func sessionCount(of tenant: String, most: Int) async throws(StoreError) -> RecordCount {
        try await accounts.all.count(of: .account, tenant, most: most) {
            AccountState.slotEnds(inRecordBytes: $0) ?? []
        }
    }

    /// Shares a count between processes, such as a tenant's licenses of a day.
    ///
    /// Each writes its whole count, so that a write with an unknown outcome can be repeated.
    /// - Parameters:
    ///   - count: how many this process counted.
    ///   - name: the name of the count.
    ///   - process: the process's name, of ASCII without a space.
    ///   - end: when it may be forgotten.
    /// - Returns: how many the other processes counted.
    /// - Throws: `StoreError`.
    package func share(
        _ count: Int, of name: String, _ tenant: String, by process: String, until end: Date
    ) async throws(StoreError) -> Int {
        let key = RecordKey(.usage, tenant: tenant, name: name)
        for _ in 0..<Self.attempts {
            let reading = try await accounts[key].read(key)
            var counts = reading.record.map { SharedCounts($0.bytes) } ?? SharedCounts()
            let others = counts.sum(without: process)
            guard counts[process] != count else { return others }
            counts[process] = count
            let record = Record(version: reading.nextVersion, bytes: counts.bytes)
            if try await accounts[key].write(
                record, at: key, replacing: reading.record?.version, until: end, counting: [])
            {
                return others
            }
        }
        throw .contended(accounts.engine)
    }

    /// The current state of an account; an empty one if nothing is kept.
    /// - Throws: `StoreError`.
    package func account(_ account: String, of tenant: String) async throws(StoreError) -> AccountState {
        let reading = try await accounts[.account(account, tenant)].read(.account(account, tenant))
        return try accounts.account(in: reading.record).kept(at: reading.now)
    }

    /// Stops a session: it gets no license any more, and learns by whom. It plays on to the end of its lease.
    /// - Parameter who: the operator who stops it, for the viewer.
    /// - Returns: whether it had a slot.
    /// - Throws: `StoreError`.
    package func stop(
        session: String, of account: String, _ tenant: String, by who: String
    ) async throws(StoreError) -> Bool {
        let name = session.storedName()
        return try await change(.account(account, tenant)) { state, now in
            guard state.slots.contains(where: { $0.session == name && $0.ends > now }) else { return false }
            state.stop(name, by: who, at: now)
            return true
        }
    }

    /// Stops all sessions of an account, each as `stop` does.
    /// - Returns: the sessions that had a slot.
    /// - Throws: `StoreError`.
    package func stopAll(
        of account: String, _ tenant: String, by who: String
    ) async throws(StoreError) -> [String] {
        try await change(.account(account, tenant)) { state, now in
            let sessions = state.slots.filter { $0.ends > now }.map(\.session)
            for session in sessions { state.stop(session, by: who, at: now) }
            return sessions
        }
    }

    /// Stops a session, even while the store is out: then immediately on this node, and for the others once the store is back.
    /// - Returns: whether it had a slot; `nil` if this is unknown now, and the store gets the change later.
    /// - Throws: `StoreError` without a copy of the node's own.
    package func stopEvenInOutage(
        session: String, of account: String, _ tenant: String, by who: String
    ) async throws(StoreError) -> Bool? {
        do {
            return try await stop(session: session, of: account, tenant, by: who)
        } catch {
            guard let pending, error.isOutage else { throw error }
            try await pending.add(
                .stopped(
                    tenant: tenant, account: account, session: session.storedName(), by: who, at: timekeeper.date))
            return nil
        }
    }

    /// Forgets a device of an account, which makes room for another. Its slots and downloads stay.
    /// - Returns: whether it was known.
    /// - Throws: `StoreError`.
    package func forget(device: String, of account: String, _ tenant: String) async throws(StoreError) -> Bool {
        let name = device.storedName()
        return try await change(.account(account, tenant)) { state, _ in state.devices.removeValue(forKey: name) != nil
        }
    }

    /// Erases everything of an account, damaged or not, in each region: after a change of the regions, several may have it.
    /// - Parameter isTrial: whether it only looks.
    /// - Returns: for each region, whose name is `nil` if there is one store, the account that it had: `nil` for none, and an empty one for
    ///   a damaged one.
    package func erase(
        _ account: String, of tenant: String, isTrial: Bool = false
    ) async -> [(region: String?, account: Result<AccountState?, StoreError>)] {
        let key = RecordKey.account(account, tenant)
        var found: [(region: String?, account: Result<AccountState?, StoreError>)] = []
        for part in accounts.parts {
            if !isTrial { forgetMemory(of: key) }
            let outcome = await Result { () async throws(StoreError) in
                let record = try await part.read(key).record
                if !isTrial { try await part.erase(key) }
                return record.map { (try? AccountState(recordBytes: $0.bytes, engine: part.engine)) ?? AccountState() }
            }
            found.append((part.health.region, outcome))
        }
        return found
    }

    /// Forgets this node's knowledge of an account.
    package func forgetMemory(of key: RecordKey) { memory.forget(key) }
}

extension GuardedRecordStore {
    /// Removes a record, even one that has ended: stores forget those only later.
    fileprivate func erase(_ key: RecordKey) async throws(StoreError) {
        for _ in 0..<AccountSessions.attempts {
            let reading = try await read(key)
            var version = reading.record?.version
            if version == nil {
                let empty = Record(version: reading.nextVersion, bytes: AccountState.emptyRecordBytes)
                guard try await write(empty, at: key, replacing: nil, until: reading.now + 60) else { continue }
                version = empty.version
            }
            if let version, try await remove(key, version: version) { return }
        }
        throw .contended(engine)
    }
}

/// An account with its name.
package struct NamedAccount: Sendable, Hashable {
    package let name: String
    package let account: AccountState
    /// When the account may be forgotten.
    package let end: Date
}

/// The processes' counts, as a record keeps them: a line each, such as `0f3a…9c 1200`.
private struct SharedCounts {
    private var counts: [String: Int] = [:]

    init() {}

    /// Unreadable text counts nothing.
    init(_ bytes: [UInt8]) {
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let count = Int(words[1]) else { continue }
            counts[String(words[0])] = max(0, count)
        }
    }

    subscript(_ process: String) -> Int {
        get { counts[process] ?? 0 }
        set { counts[process] = newValue }
    }

    func sum(without process: String) -> Int {
        counts.reduce(0) { sum, one in
            one.key == process ? sum : sum.addingReportingOverflow(one.value).overflow ? .max : sum + one.value
        }
    }

    var bytes: [UInt8] {
        Array(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined().utf8)
    }
}
