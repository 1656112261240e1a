public import Foundation
public import LatchkeyCore
public import LatchkeyDecision
public import LatchkeySystem

/// Stores sealed content keys, seeds, and the tenants' data keys. It never sees a key in the clear.
///
/// A stored key never changes, except in its sealing and whether it is disabled. Replacing or removing a key requires its current
/// sealed form.
///
/// Source: `Documentation/LicenseServer.md` §8.
public protocol KeyStore: StoreEngine {
    /// Whether the last call had no answer, so that cached data may be old. Defaults to no.
    var isAway: Bool { get }

    /// Whether a key was disabled on this node while the store was away, and the store does not know it yet. Defaults to no.
    func holdsBack(_ kid: KeyID, of tenant: String) -> Bool

    /// Adds the missing keys.
    /// - Returns: the rows in force, in the requested order: for an existing key, the existing row.
    /// - Throws: `StoreError`; then all or none were added.
    func add(_ rows: [KeyRow]) async throws(StoreError) -> [KeyRow]

    /// The rows of some keys, in any order, without missing ones.
    func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow]

    /// The rows of a tenant by content and kid, page by page.
    /// - Parameters:
    ///   - tenant: the tenant.
    ///   - search: a prefix of the content's name, or a complete kid; empty means all.
    ///   - cursor: only rows after this one.
    ///   - limit: the maximum number of rows, 1 to 1,000.
    func page(
        of tenant: String, search: String, after cursor: KeyRow.Cursor?, limit: Int
    ) async throws(StoreError) -> [KeyRow]

    /// The number of a tenant's keys.
    func count(of tenant: String) async throws(StoreError) -> Int

    /// Reseals keys and seeds with a newer data key; each is found by its subject.
    /// - Returns: the number of replaced rows; a row that meanwhile has a data key at least as new does not change.
    func reseal(_ rows: [SealedKey]) async throws(StoreError) -> Int

    /// Some rows sealed with an older data key; none if all have the newest.
    func rows(of tenant: String, sealedBefore dataKey: UInt32, limit: Int) async throws(StoreError) -> [KeyRow]

    /// Disables a key, or enables it again.
    /// - Returns: false if the key does not exist.
    func setDisabled(_ isDisabled: Bool, _ kid: KeyID, of tenant: String) async throws(StoreError) -> Bool

    /// Replaces a key with another that has the same kid. Engines on disk keep the former row, still sealed, where no server reads it.
    /// - Parameters:
    ///   - held: the key's current sealed form.
    ///   - row: the new key, of the same tenant and kid.
    /// - Returns: false if the key was resealed or removed meanwhile; then nothing changed.
    func replace(_ held: SealedKey, by row: KeyRow) async throws(StoreError) -> Bool

    /// Removes a key. Engines on disk keep the former row, as for `replace`.
    /// - Parameter held: the key's current sealed form.
    /// - Returns: false if the key was resealed or removed meanwhile; then nothing changed.
    func remove(_ held: SealedKey) async throws(StoreError) -> Bool

    /// Sets a block, or replaces the one of the same account or device.
    ///
    /// Defaults to `storeUnfit`: a store without blocks must not lose one.
    func block(_ block: Block) async throws(StoreError)

    /// Lifts a block. Defaults to `storeUnfit`.
    /// - Returns: false if the account or device was not blocked.
    func unblock(_ subject: Block.Subject) async throws(StoreError) -> Bool

    /// All tenants' blocks, in any order, including ended ones. Defaults to none.
    func blocks() async throws(StoreError) -> [Block]

    /// The identity of this database; `nil` for one in memory, and for one whose tables an earlier version made.
    func fingerprint() async throws(StoreError) -> DatabaseFingerprint?

    /// The tenant's sealed seeds.
    func seeds(of tenant: String) async throws(StoreError) -> [SealedKey]

    /// Adds a seed, unless its version is there.
    /// - Returns: false if it is there.
    func add(seed: SealedKey) async throws(StoreError) -> Bool

    /// All tenants' wrapped data keys.
    func dataKeys() async throws(StoreError) -> [WrappedDataKey]

    /// Adds a data key, or replaces how it is wrapped.
    /// - Parameters:
    ///   - dataKey: the wrapped data key.
    ///   - wrapper: the name of the key encryption key by which it is wrapped now; `nil` if it is new.
    /// - Returns: false if it is there with another wrapper, and nothing changed.
    func put(_ dataKey: WrappedDataKey, replacing wrapper: String?) async throws(StoreError) -> Bool
}

extension KeyStore {
    public var isAway: Bool { false }

    public func holdsBack(_ kid: KeyID, of tenant: String) -> Bool { false }

    public func block(_ block: Block) async throws(StoreError) { throw .withoutBlocks(engine) }

    public func unblock(_ subject: Block.Subject) async throws(StoreError) -> Bool { throw .withoutBlocks(engine) }

    public func blocks() async throws(StoreError) -> [Block] { [] }
}

extension StoreError {
    fileprivate static func withoutBlocks(_ engine: String) -> Self {
        Self(
            .unfit, engine, reason: "This store keeps no blocks.",
            remedy: "Add KeyStore's block, unblock and blocks to the store.")
    }
}

/// A stored content key.
public struct KeyRow: Sendable, Hashable {
    /// The start of the next page.
    public struct Cursor: Sendable, Hashable {
        /// The content of the last row before it.
        public let content: ContentName
        /// The kid of the last row before it, 16 bytes.
        public let kid: KeyID

        /// The position after a row.
        public init(content: ContentName, kid: KeyID) {
            self.content = content
            self.kid = kid
        }
    }

    /// The kid.
    public var kid: KeyID
    /// Tenant, data key, nonce and ciphertext.
    public var sealed: SealedKey
    /// The content that it encrypts.
    public var content: ContentName
    /// The class of its tracks.
    public var track: TrackClass
    /// The packager's word for its tracks; empty if it has none.
    public var trackType: String
    /// The policies of the key, in their order.
    public var policies: [String]
    /// The encryption scheme of the media; `nil` if unknown.
    public var scheme: EncryptionScheme?
    /// The indexes of the crypto periods that it encrypts; empty without rotation.
    public var periods: [UInt32]
    /// When it was stored; whole seconds.
    public var created: Date
    /// Whether licenses for it are refused.
    public var isDisabled: Bool
    /// Whether it is out of a node's own copy, because the store did not answer. No store keeps it.
    package var isCopied = false

    /// A row as read from a store. The defaults apply to a key without further information.
    public init(
        kid: KeyID, sealed: SealedKey, content: ContentName, track: TrackClass = .all, trackType: String = "",
        policies: [String] = [], scheme: EncryptionScheme? = nil, periods: [UInt32] = [], created: Date,
        isDisabled: Bool = false
    ) {
        self.kid = kid
        self.sealed = sealed
        self.content = content
        self.track = track
        self.trackType = trackType
        self.policies = policies
        self.scheme = scheme
        self.periods = periods
        self.created = created
        self.isDisabled = isDisabled
    }

    /// Its place among the tenant's rows.
    package var cursor: Cursor { Cursor(content: content, kid: kid) }
}
