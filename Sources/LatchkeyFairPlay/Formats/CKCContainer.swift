import LatchkeyCore

/// The outer layout of a CKC, the key server's answer to one SPC.
///
///      offset  0          4          8        24       28
///             +----------+----------+--------+--------+---------------------+
///             | version  | reserved | IV     | n      | payload, n bytes    |
///             | 1        | 0        | 16     | 4      | AES-CBC, no padding |
///             +----------+----------+--------+--------+---------------------+
///
/// The payload is a `TLLVSequence`, encrypted with a key that only the device that made the SPC can compute
/// (`ContentKeyContextKey`). There is no MAC: a CKC for another SPC decrypts to noise, so check R1 before you trust a block.
///
/// Source: `Documentation/FairPlay.md` §6.
package struct CKCContainer: Sendable {
    /// The whole CKC.
    package let bytes: [UInt8]
    /// The range of the payload's IV, 16 bytes.
    package let ivRange: Range<Int>
    /// The range of the encrypted payload, a positive multiple of 16 bytes.
    package let payloadRange: Range<Int>

    /// The number of bytes before the payload.
    package static let headerLength = 28

    /// Parses a CKC. The payload must end with the input.
    /// - Throws: a `FormatError` with the problem and the apparent format of the bytes.
    package init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        guard let version = reader.uint32() else { throw .notACKC(bytes, reader.shortage) }
        guard version == 1 else { throw .notACKC(bytes, "it states version \(version)") }
        guard reader.take(4) != nil, let iv = reader.take(16), let length = reader.uint32(),
            let payload = reader.take(Int(length))
        else { throw .notACKC(bytes, reader.shortage) }
        guard !payload.isEmpty, payload.count % 16 == 0, reader.remaining == 0 else {
            throw FormatError(
                kind: .notACKC, what: "its payload has \(payload.count) bytes and \(reader.remaining) follow")
        }
        (self.bytes, ivRange, payloadRange) = (bytes, iv, payload)
    }

    /// Decrypts the payload and parses its blocks.
    /// - Parameter key: the CKC's key, 16 bytes.
    package func blocks(key: ErasedBytes, _ cipher: borrowing AESCBC) throws -> TLLVSequence {
        var payload = Array(bytes[payloadRange])
        let iv = AESBlock(bytes[ivRange])
        try key.read(0..<16) { key throws(OpenSSLError) in
            try cipher.apply(.decrypt, to: &payload, key: key, iv: iv)
        }
        return try TLLVSequence(payload)
    }
}
