public import LatchkeyCore

/// The outer layout of a CKC: version (4), reserved (4), IV (16), payload length (4), payload.
///
/// Source: `fps-protocol.md` §6.
public struct CKCContainer: Sendable {
    /// The whole CKC.
    public let bytes: [UInt8]
    /// Where the payload's IV is, 16 bytes.
    public let ivRange: Range<Int>
    /// Where the encrypted payload is, a positive multiple of 16 bytes.
    public let payloadRange: Range<Int>

    /// The length of what stands before the payload.
    package static let headerLength = 28

    /// Finds the parts of a CKC.
    /// - Throws: a `CKCFormatError` that says what does not fit, and what else the bytes look like.
    public init(_ bytes: [UInt8]) throws(CKCFormatError) {
        var reader = ByteReader(bytes)
        do throws(EndOfBytes) {
            let version = try reader.uint32()
            guard version == 1 else { throw EndOfBytes(offset: -1, wanted: 1, found: Int(version)) }
            _ = try reader.take(4)
            ivRange = try reader.take(16)
            payloadRange = try reader.take(Int(reader.uint32()))
        } catch {
            throw CKCFormatError(bytes, error)
        }
        guard !payloadRange.isEmpty, payloadRange.count % 16 == 0, reader.remaining == 0 else {
            throw CKCFormatError(
                what: "its payload has \(payloadRange.count) bytes and \(reader.remaining) follow", likeness: nil)
        }
        self.bytes = bytes
    }

    /// Decrypts the payload and finds its blocks.
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
public struct CKCFormatError: DiagnosableError, Equatable {
    let what: String
    /// What the bytes look like instead, such as `JSON`; nil without an idea.
    public let likeness: String?

    public var code: String { "notACKC" }
    public var reason: String {
        "The bytes are not a CKC: \(what)" + (likeness.map { "; they look like \($0)." } ?? ".")
    }
    public var remedy: String {
        switch likeness {
        case nil: "Check that the license service's whole reply arrived, and how the CKC is wrapped in it."
        case "base64 text": "Decode the base64 text before giving it to the player."
        default: "Read the license service's reply: it holds an error, or the CKC in one of its fields."
        }
    }
}

extension CKCFormatError {
    init(_ bytes: [UInt8], _ end: EndOfBytes) {
        let isVersion = end.offset < 0
        self.init(
            what: isVersion
                ? "it states version \(end.found)"
                : "at byte \(end.offset) it wants \(end.wanted) bytes and has \(end.found)",
            likeness: bytes.isEmpty ? "an empty reply" : Likeness(of: bytes)?.rawValue)
    }
}
