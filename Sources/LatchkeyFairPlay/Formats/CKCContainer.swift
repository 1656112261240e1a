import LatchkeyCore

/// The outer layout of a CKC: version (4), reserved (4), IV (16), payload length (4), payload.
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

    /// Parses a CKC.
    /// - Throws: a `CKCFormatError` that says what is wrong, and what the bytes look like.
    package init(_ bytes: [UInt8]) throws(CKCFormatError) {
        var reader = ByteReader(bytes)
        let version: UInt32
        do throws(EndOfBytes) { version = try reader.uint32() } catch { throw CKCFormatError(bytes, error) }
        guard version == 1 else { throw CKCFormatError(bytes, "it states version \(version)") }
        do throws(EndOfBytes) {
            _ = try reader.take(4)
            ivRange = try reader.take(16)
            payloadRange = try reader.take(Int(reader.uint32()))
        } catch {
            throw CKCFormatError(bytes, error)
        }
        guard !payloadRange.isEmpty, payloadRange.count % 16 == 0, reader.remaining == 0 else {
            throw CKCFormatError(
                what: "its payload has \(payloadRange.count) bytes and \(reader.remaining) follow", apparentFormat: nil)
        }
        self.bytes = bytes
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

/// Bytes that are not a CKC.
package struct CKCFormatError: DiagnosableError, Equatable {
    let what: String
    /// What the bytes look like instead, such as `JSON`; `nil` without an idea.
    package let apparentFormat: String?

    package var code: String { "notACKC" }
    package var reason: String {
        "The bytes are not a CKC: \(what)" + (apparentFormat.map { "; they look like \($0)." } ?? ".")
    }
    package var remedy: String {
        switch apparentFormat {
        case nil: "Check that the license service's whole reply arrived, and how the CKC is wrapped in it."
        case "base64 text": "Decode the base64 text before giving it to the player."
        default: "Read the license service's reply: it holds an error, or the CKC in one of its fields."
        }
    }
}

extension CKCFormatError {
    init(_ bytes: [UInt8], _ what: String) {
        self.init(
            what: what, apparentFormat: bytes.isEmpty ? "an empty reply" : FormatGuess(of: bytes)?.rawValue)
    }

    init(_ bytes: [UInt8], _ end: EndOfBytes) {
        self.init(bytes, "at byte \(end.offset) it wants \(end.wanted) bytes and has \(end.found)")
    }
}
