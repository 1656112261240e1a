public import LatchkeySystem

/// Stores the audit: a chain of entries in which every change is detectable.
///
/// Source: `Documentation/LicenseServer.md` §8.5.
public protocol AuditStore: StoreEngine {
    /// Appends an entry.
    /// - Returns: false if its number does not follow the last entry's, because another entry already has it; then nothing was added.
    /// - Throws: `StoreError`.
    func append(_ entry: AuditEntry) async throws(StoreError) -> Bool

    /// The last entry, or `nil`.
    func last() async throws(StoreError) -> AuditEntry?

    /// Entries in order.
    /// - Parameters:
    ///   - sequence: the first number.
    ///   - limit: the maximum number of entries, 1 to 1,000.
    func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry]
}

/// An audited action.
public struct AuditEntry: Sendable, Hashable {
    /// 1 for the first entry, then one more each.
    public let sequence: UInt64
    /// The action as one JSON object in canonical form, without secrets: `time`, `actor`, `action`, `object`, `details`.
    public let text: String
    /// The hash of the previous entry, 32 bytes; zeros for the first.
    public let previous: [UInt8]
    /// The SHA-256 of `previous`, the number in 8 bytes (big-endian) and the text's UTF-8; 32 bytes.
    public let hash: [UInt8]

    /// An entry as read from a store.
    public init(sequence: UInt64, text: String, previous: [UInt8], hash: [UInt8]) {
        self.sequence = sequence
        self.text = text
        self.previous = previous
        self.hash = hash
    }
}
