import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeySystem

/// Keys for packagers.
extension TenantVault {
    /// The most rows of derived keys that wait for the store.
    static var pendingLimit: Int { 10_000 }

    /// The keys of some addresses. The store keeps their tracks for the licenses.
    ///
    /// A key that has a row keeps it: the row in force decides, even if two nodes make one at the same time. New keys are derived,
    /// or random by the tenant's setting, and go to the store in one call. While the store takes none, no new key is handed out: it might
    /// contradict a row. Where the settings derive keys without a row, they are handed out anyway, unless an encryptor chose the IV,
    /// and their rows wait for `writePending`.
    /// - Throws: `anotherContent`, `anotherIV`, `disabled`, `tooMany` for a request at fault; `store`, `protection`.
    package func keys(for demands: [KeyDemand]) async throws(VaultError) -> [KeyAddress: ContentKey] {
        await writePending()
        let rows = try await rows(of: demands.map(\.address.kid))
        var keys: [KeyAddress: ContentKey] = [:]
        var new: [(demand: KeyDemand, key: ContentKey, row: KeyRow)] = []
        for demand in demands {
            if let row = rows[demand.address.kid] {
                keys[demand.address] = try await held(row, for: demand)
            } else {
                let key = try await made(demand)
                new.append((demand, key, try sealed(key, demand)))
            }
        }
        guard !new.isEmpty else { return keys }
        try await checkRoom(for: new.count)
        let inForce = try await add(new.map(\.row), isNeeded: new.contains { $0.demand.iv != nil })
        for (new, row) in zip(new, inForce) {
            // Another node was first: its key counts.
            keys[new.demand.address] = row.sealed == new.row.sealed ? new.key : try await held(row, for: new.demand)
        }
        return keys
    }

    /// Adds keys from elsewhere, as from a CPIX document. Existing keys stay.
    /// - Parameters:
    ///   - keys: the keys, each with its content.
    ///   - policies: the policies of all of them.
    /// - Returns: the kids that already had another key, IV or content; those keys were not imported.
    /// - Throws: `store`, `protection`, `tooMany`; then none was added.
    package func add(
        _ keys: [(demand: KeyDemand, key: ContentKey)], policies: [String] = []
    ) async throws(VaultError) -> [KeyID] {
        var rows: [KeyRow] = []
        for (demand, key) in keys { rows.append(try sealed(key, demand, policies)) }
        let new = rows
        if settings.mostRows != nil {
            let known = try await self.rows(of: new.map(\.kid))
            try await checkRoom(for: new.count { known[$0.kid] == nil })
        }
        let inForce = try await VaultError.asking { () throws(StoreError) in try await store.add(new) }
        var conflicts: [KeyID] = []
        for ((demand, key), row) in zip(keys, inForce) {
            noteChange(of: row.kid)
            let isSame = try await secrets.contentKey(row.sealed) == key && row.content == demand.address.content
            if !isSame { conflicts.append(row.kid) }
        }
        return conflicts
    }

    /// The number of the tenant's rows, at most a minute old; `nil` if not counted: there is no limit, or the store is unavailable.
    package func rowCount() async -> Int? {
        guard settings.mostRows != nil else { return nil }
        let now = timekeeper.uptime
        if let known = state.withLock({ $0.rowCount }), known.end > now { return known.number }
        // The store's health says why it failed.
        guard let number = try? await store.count(of: secrets.tenant) else { return nil }
        state.withLock { $0.rowCount = (number, now + .seconds(60)) }
        return number
    }

    /// Refuses new keys that would exceed the tenant's limit. While the store cannot count, keys are made anyway.
    private func checkRoom(for count: Int) async throws(VaultError) {
        guard count > 0, let limit = settings.mostRows, let number = await rowCount() else { return }
        guard number + count <= limit else {
            settings.whenFull()
            throw .tooMany(limit: limit)
        }
        state.withLock { $0.rowCount?.number += count }
    }

    /// Hands the store the rows that it did not take when their keys were made. Call it regularly; packagers' requests do, too.
    /// - Returns: how many still wait.
    @discardableResult
    package func writePending() async -> Int {
        let rows = state.withLock { Array($0.pending.values.prefix(1_000)) }
        guard !rows.isEmpty, let inForce = try? await store.add(rows) else { return rows.count }
        return state.withLock { state in
            for row in inForce {
                state.pending[row.kid] = nil
                let stamp = state.nextStamp()
                state.known.update(row.kid) { ($0.isChanged, $0.stamp) = (true, stamp) }
            }
            return state.pending.count
        }
    }

    /// The rows of some keys: stored or still pending. A store that fails counts as empty where keys without a row are derived.
    private func rows(of kids: [KeyID]) async throws(VaultError) -> [KeyID: KeyRow] {
        let waiting = state.withLock { state in kids.compactMap { state.pending[$0] } }
        let stored: [KeyRow]
        do { stored = try await store.rows(kids, of: secrets.tenant) } catch {
            guard settings.derivesUnlisted else { throw .store(error) }
            stored = []
        }
        return Dictionary((stored + waiting).map { ($0.kid, $0) }) { first, _ in first }
    }

    private func add(_ rows: [KeyRow], isNeeded: Bool) async throws(VaultError) -> [KeyRow] {
        do {
            let inForce = try await store.add(rows)
            for row in inForce { noteChange(of: row.kid) }
            return inForce
        } catch {
            guard settings.derivesUnlisted, !isNeeded else { throw .store(error) }
            let hasRoom = state.withLock { state in
                guard state.pending.count + rows.count <= Self.pendingLimit else { return false }
                for row in rows { state.pending[row.kid] = row }
                return true
            }
            guard hasRoom else { throw .store(error) }
            return rows
        }
    }

    private func held(_ row: KeyRow, for demand: KeyDemand) async throws(VaultError) -> ContentKey {
        guard row.content == demand.address.content else { throw .anotherContent(row.kid) }
        guard !row.isDisabled else { throw .disabled(row.kid) }
        let key = try await secrets.contentKey(row.sealed)
        guard key.hasStatedIV else { throw .ivMissing(row.kid) }
        guard demand.iv == nil || demand.iv == key.iv else { throw .anotherIV(row.kid) }
        return key
    }

    private func made(_ demand: KeyDemand) async throws(VaultError) -> ContentKey {
        guard settings.origin == .stored else { return try await derived(demand.address).with(iv: demand.iv) }
        var generator = generator()
        guard let key = ContentKey(key: .random(16, &generator), iv: .random(16, &generator)) else {
            throw VaultError(OpenSSLError(in: "making a key"))
        }
        return key.with(iv: demand.iv)
    }

    /// A row of a key.
    /// - Throws: `ivMissing` for a key without a stated IV, `protection`.
    func sealed(
        _ key: ContentKey, _ demand: KeyDemand, _ policies: [String] = []
    ) throws(VaultError) -> KeyRow {
        guard key.hasStatedIV else { throw .ivMissing(demand.address.kid) }
        guard let dataKey = secrets.newest else { throw .tenantMissing(secrets.tenant) }
        var generator = generator()
        let sealed = try dataKey.seal(key, kid: demand.address.kid, using: &generator)
        return KeyRow(
            kid: demand.address.kid, sealed: sealed, content: demand.address.content, track: TrackClass(demand.tracks),
            trackType: demand.tracks.map(\.trackType).joined(separator: "+"), policies: policies,
            scheme: demand.scheme, periods: demand.periods,
            created: Date(timeIntervalSince1970: timekeeper.date.timeIntervalSince1970.rounded(.down)))
    }
}

extension TenantVault.Settings {
    /// Whether keys without a row are derived.
    var derivesUnlisted: Bool { origin == .derived && unlisted == .derive }
}

extension Secret {
    fileprivate static func random(_ count: Int, _ generator: inout any RandomNumberGenerator) -> Secret {
        var bytes = generator.bytes(count)
        defer { erase(&bytes) }
        return Secret(bytes)
    }
}
