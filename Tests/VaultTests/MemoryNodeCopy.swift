import Foundation
import LatchkeyCore
import LatchkeyDecision

@testable import LatchkeySystem
@testable import LatchkeyVault

/// A node's copy in memory, which outlives the node.
final class MemoryNodeCopy: NodeCopy {
    private struct State {
        var rows: [KeyID: KeyRow] = [:]
        var dataKeys: [WrappedDataKey] = []
        var seeds: [SealedKey] = []
        var changes: [PendingChange] = []
        var blocks: [Block] = []
        var fingerprint: DatabaseFingerprint?
        var seen: AuditAnchor?
        var marks: [String: StoreMark] = [:]
    }

    private let state = Locked(State())
    let failure: StoreError? = nil

    var kids: Set<KeyID> { state.withLock { Set($0.rows.keys) } }

    func fingerprint() async throws(StoreError) -> DatabaseFingerprint? { state.withLock { $0.fingerprint } }
    func keep(_ fingerprint: DatabaseFingerprint) { state.withLock { $0.fingerprint = fingerprint } }
    func seen() async throws(StoreError) -> AuditAnchor? { state.withLock { $0.seen } }
    func keep(_ seen: AuditAnchor) {
        state.withLock { if seen.sequence > $0.seen?.sequence ?? 0 { $0.seen = seen } }
    }
    func mark(of store: String) async throws(StoreError) -> StoreMark? { state.withLock { $0.marks[store] } }
    func keep(_ mark: StoreMark, of store: String) { state.withLock { $0.marks[store] = mark } }
    func forgetSeen() async throws(StoreError) { state.withLock { ($0.seen, $0.marks) = (nil, [:]) } }
    func takedowns() async throws(StoreError) -> [HeldKey] {
        state.withLock { $0.rows.values.filter(\.isDisabled).map { HeldKey($0.sealed.tenant, $0.kid) } }
    }
    func keep(_ rows: [KeyRow]) { state.withLock { state in for row in rows { state.rows[row.kid] = row } } }
    func keep(_ dataKeys: [WrappedDataKey]) { state.withLock { $0.dataKeys = dataKeys } }
    func keep(_ seeds: [SealedKey], of tenant: String) { state.withLock { $0.seeds = seeds } }
    func keep(_ blocks: [Block]) { state.withLock { $0.blocks = blocks } }
    func blocks() async throws(StoreError) -> [Block] { state.withLock { $0.blocks } }
    func forget(_ kids: [KeyID], of tenant: String) {
        state.withLock { state in for kid in kids { state.rows[kid] = nil } }
    }
    func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        state.withLock { state in kids.compactMap { state.rows[$0] } }
    }
    func dataKeys() async throws(StoreError) -> [WrappedDataKey] { state.withLock { $0.dataKeys } }
    func seeds(of tenant: String) async throws(StoreError) -> [SealedKey] { state.withLock { $0.seeds } }
    func kids(of tenant: String, after kid: KeyID?, limit: Int) async throws(StoreError) -> [KeyID] {
        kid == nil ? Array(kids) : []
    }
    func add(_ change: PendingChange) async throws(StoreError) { state.withLock { $0.changes.append(change) } }
    func changes() async throws(StoreError) -> [PendingChange] { state.withLock { $0.changes } }
    func remove(_ change: PendingChange) async throws(StoreError) {
        state.withLock { state in state.changes.removeAll { $0 == change } }
    }
    func figures() async throws(StoreError) -> NodeCopyFigures { NodeCopyFigures(rows: kids.count) }
}
