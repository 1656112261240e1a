public import LatchkeySystem

/// Keeps the audit: a chain of entries that nobody can change unseen.
///
/// Source: `Documentation/LicenseServer.md` §8.5.
public protocol AuditStore: StoreEngine {
    /// Adds an entry behind the last one.
    /// - Returns: false if its number is not the one behind the last entry's, because another entry has it by now, and nothing was added.
    /// - Throws: `StoreError`.
    func append(_ entry: AuditEntry) async throws(StoreError) -> Bool

    /// The last entry; `nil` if there is none.
    func last() async throws(StoreError) -> AuditEntry?

    /// Entries in their order.
    /// - Parameters:
    ///   - sequence: the first number.
    ///   - limit: the most entries, 1 to 1,000.
    func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry]
}

/// One thing that somebody did.
public struct AuditEntry: Sendable, Hashable {
    /// 1 for the first entry, then one more each.
    public let sequence: UInt64
    /// What happened as one JSON object in canonical form, without secrets: `time`, `actor`, `action`, `object`, `details`.
    public let text: String
    /// The hash of the entry before, 32 bytes; zeros for the first.
    public let previous: [UInt8]
    /// The SHA-256 of `previous`, the number in 8 bytes (big-endian) and the text's UTF-8; 32 bytes.
    public let hash: [UInt8]

    /// An entry as a store had it.
    public init(sequence: UInt64, text: String, previous: [UInt8], hash: [UInt8]) {
        self.sequence = sequence
        self.text = text
        self.previous = previous
        self.hash = hash
    }
}
