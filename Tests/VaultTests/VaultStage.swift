import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeySystem
@testable import LatchkeyVault

/// A tenant's vault over a store that counts and fails on request.
struct VaultStage {
    let store = CountingKeyStore()
    let time = ManualTimekeeper(date: Date(timeIntervalSince1970: 1_767_225_600.5))
    let wrapping: KeyEncryptionKeys
    var settings = TenantVault.Settings()

    init(origin: TenantVault.Origin = .derived, unlisted: TenantVault.Unlisted = .refuse) throws {
        wrapping = KeyEncryptionKeys(try Self.wrapper("kek-1", 1))
        settings.origin = origin
        settings.unlisted = unlisted
    }

    static func wrapper(_ id: String, _ byte: UInt8) throws -> KeyEncryptionKey {
        try KeyEncryptionKey(id: id, key: Secret([UInt8](repeating: byte, count: 32)))
    }

    /// A new vault, as on another node or after a restart.
    /// - Parameters:
    ///   - copy: the node's own copy. Defaults to none.
    ///   - age: the node's knowledge of the audit. Defaults to nothing.
    func vault(copy: MemoryNodeCopy? = nil, age: StoreAge? = nil) async throws -> TenantVault {
        var pending: PendingChanges?
        if let copy { pending = try await PendingChanges.open(copy) }
        let guarded = GuardedKeyStore(
            store, health: EngineHealth("keyStore", timekeeper: time), copy: copy, pending: pending, age: age)
        // As at a start that may find the store down.
        if copy != nil || age != nil { await guarded.probe() }
        return TenantVault(
            try await TenantSecrets.create("acme", in: guarded, with: wrapping), store: guarded, settings: settings,
            timekeeper: time)
    }

    /// A server's scheduled work for a vault in half a minute.
    func tick(_ vault: TenantVault) async throws {
        time.advance(by: .seconds(30))
        let guarded = try #require(vault.store as? GuardedKeyStore)
        // A call to a store that was away starts a probe in the background, and no other probe runs meanwhile.
        while guarded.health.isAsking { await Task.yield() }
        await guarded.probe()
        try? await vault.refresh()
    }

    func demand(
        _ number: UInt8, content: String = "movie", iv: UInt8? = nil, track: String = "HD", periods: [UInt32] = []
    ) throws -> KeyDemand {
        let kid = KeyID.numbered(number)
        let rule = EncryptionContract.Rule(kid: kid, trackType: track, video: [], audio: [], periods: [])
        return KeyDemand(
            KeyAddress(content: try #require(ContentName(content)), kid: kid),
            iv: iv.map { Secret([UInt8](repeating: $0, count: 16)) }, scheme: .cbcs, tracks: [rule], periods: periods)
    }

    /// The key that a packager gets from a vault.
    func key(_ demand: KeyDemand, of vault: TenantVault) async throws -> ContentKey {
        try #require(try await vault.keys(for: [demand])[demand.address])
    }
}

extension KeyID {
    static let none = numbered(0)

    static func numbered(_ number: UInt8) -> KeyID {
        guard let id = KeyID(bytes: [UInt8](repeating: number, count: 16)) else { preconditionFailure("16 bytes") }
        return id
    }
}

/// A store in memory that counts its calls, and is down on request.
final class CountingKeyStore: KeyStore {
    let inner = MemorySealedKeyStore()
    private let calls = Locked<[String: Int]>([:])
    private let isDown = Locked(false)
    /// Calls that answer as if the store were empty, as for a node that asked before another wrote; each for one call.
    let early = Locked<[String]>([])
    /// Holds reads of rows until it is resolved.
    let gate = Locked<Promise<Void, any Error>?>(nil)

    var engine: String { inner.engine }

    func count(_ call: String) -> Int { calls.withLock { $0[call] ?? 0 } }
    func setDown(_ value: Bool) { isDown.withLock { $0 = value } }

    private func isEarly(_ call: String) -> Bool {
        early.withLock { early in early.firstIndex(of: call).map { early.remove(at: $0) } != nil }
    }

    private func called(_ call: String) throws(StoreError) {
        calls.withLock { $0[call, default: 0] += 1 }
        if isDown.withLock({ $0 }) { throw StoreError(.unavailable, "memory", reason: "The test took it down.") }
    }

    func add(_ rows: [KeyRow]) async throws(StoreError) -> [KeyRow] {
        try called("add")
        return try await inner.add(rows)
    }

    func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        try called("rows")
        let rows = try await inner.rows(kids, of: tenant)
        calls.withLock { $0["rows were read", default: 0] += 1 }
        if let gate = gate.withLock({ $0 }) { _ = try? await gate.value }
        return rows
    }

    func page(
        of tenant: String, search: String, after cursor: KeyRow.Cursor?, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        try called("page")
        return try await inner.page(of: tenant, search: search, after: cursor, limit: limit)
    }

    func count(of tenant: String) async throws(StoreError) -> Int { try await inner.count(of: tenant) }

    func reseal(_ rows: [SealedKey]) async throws(StoreError) -> Int {
        try called("reseal")
        return try await inner.reseal(rows)
    }

    func rows(of tenant: String, sealedBefore dataKey: UInt32, limit: Int) async throws(StoreError) -> [KeyRow] {
        try called("sealedBefore")
        return try await inner.rows(of: tenant, sealedBefore: dataKey, limit: limit)
    }

    func setDisabled(_ isDisabled: Bool, _ kid: KeyID, of tenant: String) async throws(StoreError) -> Bool {
        try called("setDisabled")
        return try await inner.setDisabled(isDisabled, kid, of: tenant)
    }

    func block(_ block: Block) async throws(StoreError) {
        try called("block")
        try await inner.block(block)
    }

    func unblock(_ subject: Block.Subject) async throws(StoreError) -> Bool {
        try called("unblock")
        return try await inner.unblock(subject)
    }

    func blocks() async throws(StoreError) -> [Block] {
        try called("blocks")
        return try await inner.blocks()
    }

    func replace(_ held: SealedKey, by row: KeyRow) async throws(StoreError) -> Bool {
        try called("replace")
        return try await inner.replace(held, by: row)
    }

    func remove(_ held: SealedKey) async throws(StoreError) -> Bool {
        try called("remove")
        return try await inner.remove(held)
    }

    func fingerprint() async throws(StoreError) -> DatabaseFingerprint? {
        try called("fingerprint")
        return try await inner.fingerprint()
    }

    func seeds(of tenant: String) async throws(StoreError) -> [SealedKey] {
        try called("seeds")
        if isEarly("seeds") { return [] }
        return try await inner.seeds(of: tenant)
    }

    func add(seed: SealedKey) async throws(StoreError) -> Bool {
        try called("addSeed")
        return try await inner.add(seed: seed)
    }

    func dataKeys() async throws(StoreError) -> [WrappedDataKey] {
        try called("dataKeys")
        if isEarly("dataKeys") { return [] }
        return try await inner.dataKeys()
    }

    func put(_ dataKey: WrappedDataKey, replacing wrapper: String?) async throws(StoreError) -> Bool {
        try called("put")
        return try await inner.put(dataKey, replacing: wrapper)
    }
}
