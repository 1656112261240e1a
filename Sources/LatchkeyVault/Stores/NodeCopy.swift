package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem

/// A node's copy of the store of keys on its own disk, so that it starts and licenses while the store is unavailable.
///
/// Everything is sealed as in the store: rows and seeds by data keys, data keys by the key encryption key. Besides, it keeps the changes
/// that could not reach the store yet.
///
/// Source: `Documentation/Decisions/0011-only-stored-keys.md`.
package protocol NodeCopy: Sendable {
    /// The database that this is a copy of; `nil` before it has seen one.
    func fingerprint() async throws(StoreError) -> DatabaseFingerprint?

    /// Remembers the database that this is a copy of. Does not wait.
    func keep(_ fingerprint: DatabaseFingerprint)

    /// The newest entry of the audit that this node has seen; `nil` before the first one.
    func seen() async throws(StoreError) -> AuditAnchor?

    /// Remembers an entry of the audit, unless a newer one is known. Does not wait.
    func keep(_ seen: AuditAnchor)

    /// The newest mark that this node has seen in a store; `nil` before the first one.
    func mark(of store: String) async throws(StoreError) -> StoreMark?

    /// Remembers a store's mark. Does not wait.
    func keep(_ mark: StoreMark, of store: String)

    /// Forgets the entry of the audit and all marks: the next ones count, whatever their numbers. They are gone from the disk when this
    /// returns.
    func forgetSeen() async throws(StoreError)

    /// The disabled keys.
    func takedowns() async throws(StoreError) -> [HeldKey]

    /// Keeps rows as the store has them now. Does not wait; rows that do not fit into the queue are kept when they are read again.
    func keep(_ rows: [KeyRow])

    /// Keeps all tenants' data keys, replacing the previous ones. Does not wait.
    func keep(_ dataKeys: [WrappedDataKey])

    /// Keeps a tenant's seeds, replacing the previous ones. Does not wait.
    func keep(_ seeds: [SealedKey], of tenant: String)

    /// Keeps all blocks, replacing the previous ones. Does not wait.
    func keep(_ blocks: [Block])

    /// All tenants' blocks.
    func blocks() async throws(StoreError) -> [Block]

    /// Forgets rows that the store does not have. Does not wait.
    func forget(_ kids: [KeyID], of tenant: String)

    /// The rows of some keys, in any order; missing ones are left out.
    func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow]

    /// All tenants' data keys.
    func dataKeys() async throws(StoreError) -> [WrappedDataKey]

    /// A tenant's seeds.
    func seeds(of tenant: String) async throws(StoreError) -> [SealedKey]

    /// Kids of rows, to check them again: those after a kid, in the order of their bytes.
    /// - Parameter limit: 1 to 1,000.
    func kids(of tenant: String, after kid: KeyID?, limit: Int) async throws(StoreError) -> [KeyID]

    /// Keeps a change for the store. It is on the disk when this returns.
    /// - Throws: `storeFull` beyond 10,000 changes, or without room on the disk.
    func add(_ change: PendingChange) async throws(StoreError)

    /// The waiting changes, in order.
    func changes() async throws(StoreError) -> [PendingChange]

    /// Forgets a change, because the store has it.
    func remove(_ change: PendingChange) async throws(StoreError)

    /// Why the last write failed; `nil` if it succeeded.
    var failure: StoreError? { get }

    /// The size of the copy.
    func figures() async throws(StoreError) -> NodeCopyFigures
}

/// The size of a node's copy.
package struct NodeCopyFigures: Sendable, Hashable {
    /// The number of content keys.
    package var rows = 0
    /// The bytes of its file.
    package var bytes = 0
    /// When data of the store was last kept; `nil` if never.
    package var kept: Date?

    package init(rows: Int = 0, bytes: Int = 0, kept: Date? = nil) {
        self.rows = rows
        self.bytes = bytes
        self.kept = kept
    }
}

/// A change that a node made while the store was unavailable, and that the store gets later.
package struct PendingChange: Sendable, Hashable, Codable {
    /// The change.
    package enum Kind: Sendable, Hashable, Codable {
        /// A disabled key.
        case disabled(tenant: String, kid: String)
        /// A blocked account or device.
        case blocked(Block)
        /// A stopped session, and who stopped it; the date is of the node's clock.
        case stopped(tenant: String, account: String, session: String, by: String, at: Date)
        /// An entry of the audit, in canonical form.
        case audit(text: String)
    }

    /// Its own name, so that it is removed once.
    package let id: UUID
    package let kind: Kind

    package init(_ kind: Kind, id: UUID = UUID()) {
        self.id = id
        self.kind = kind
    }
}
