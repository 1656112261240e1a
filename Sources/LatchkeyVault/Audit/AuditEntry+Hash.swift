import LatchkeyFairPlay

extension AuditEntry {
    /// The hash before the first entry.
    static let beginning = [UInt8](repeating: 0, count: 32)

    /// The entry that follows another one.
    /// - Throws: an error if libcrypto has no SHA-256.
    init(_ text: String, after last: AuditEntry?) throws(OpenSSLError) {
        let sequence = (last?.sequence ?? 0) + 1
        let previous = last?.hash ?? Self.beginning
        self.init(
            sequence: sequence, text: text, previous: previous, hash: try Self.hash(sequence, text, previous: previous))
    }

    /// The hash that the entry should have.
    func computedHash() throws(OpenSSLError) -> [UInt8] { try Self.hash(sequence, text, previous: previous) }

    private static func hash(
        _ sequence: UInt64, _ text: String, previous: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        let number = withUnsafeBytes(of: sequence.bigEndian) { Array($0) }
        return try MessageDigest.sha256(previous + number + Array(text.utf8))
    }
}
