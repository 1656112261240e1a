import LatchkeyCore

/// The outer layout of an SPC: version 1, and version 2 of the test credentials, which differs only in *k*.
///
///      offset  0         4          8    24             24+k         44+k  48+k
///             +---------+----------+----+--------------+------------+-----+----------------+
///             | version | reserved | IV | payload key, | SHA-1 of   | n   | payload,       |
///             |         |          |    | RSA-OAEP     | cert., DER |     | AES-CBC        |
///             | 4       | 4        | 16 | k            | 20         | 4   | n              |
///             +---------+----------+----+--------------+------------+-----+----------------+
///
/// *k* is 128 in version 1 and 256 in version 2. The hash selects the credential, so an unknown certificate is refused before
/// any RSA work. This type checks lengths alone: the sender controls every byte, and no MAC protects the payload.
///
/// Source: `Documentation/FairPlay.md` §2 and §11.
package struct SPCContainer: Sendable {
    /// 1 or 2.
    package let version: UInt32
    /// The whole SPC.
    package let bytes: [UInt8]
    /// The range of the payload's IV, 16 bytes.
    package let ivRange: Range<Int>
    /// The range of the RSA-encrypted payload key.
    package let wrappedKeyRange: Range<Int>
    /// The range of the certificate's SHA-1, 20 bytes.
    package let certificateHashRange: Range<Int>
    /// The range of the encrypted payload, a positive multiple of 16 bytes.
    package let payloadRange: Range<Int>

    /// The maximum length of a payload: 16 times the largest published one.
    package static let maximumPayloadLength = 65_536

    /// Parses an SPC.
    /// - Throws: `unsupportedVersion` for versions other than 1 and 2, `malformedContainer` for inconsistent lengths.
    package init(_ bytes: [UInt8]) throws(KSMRefusal) {
        let version = try Self.version(of: bytes)
        guard let wrappedLength = Self.wrappedKeyLength(version) else { throw .unsupportedVersion(version, bytes) }
        var reader = ByteReader(bytes)
        guard reader.take(8) != nil, let iv = reader.take(16), let wrappedKey = reader.take(wrappedLength),
            let certificateHash = reader.take(20), let length = reader.uint32(), let payload = reader.take(Int(length))
        else { throw .malformedContainer(reader.shortage) }
        try Self.check(payload, in: bytes)
        (ivRange, wrappedKeyRange, certificateHashRange, payloadRange) = (iv, wrappedKey, certificateHash, payload)
        self.version = version
        self.bytes = bytes
    }

    /// The version that an SPC states.
    /// - Throws: `malformedContainer` for fewer than 8 bytes.
    static func version(of bytes: [UInt8]) throws(KSMRefusal) -> UInt32 {
        var reader = ByteReader(bytes)
        guard bytes.count >= 8, let version = reader.uint32() else {
            throw .malformedContainer("it has \(bytes.count) bytes, less than its header")
        }
        return version
    }

    /// The certificate's hash in version 2 of the test credentials; `nil` if the SPC is too short.
    static func certificateHashOfVersion2(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        bytes.count >= 300 ? bytes[280..<300] : nil
    }

    private static func wrappedKeyLength(_ version: UInt32) -> Int? {
        switch version {
        case 1: 128
        case 2: 256
        default: nil
        }
    }

    private static func check(_ payload: Range<Int>, in bytes: [UInt8]) throws(KSMRefusal) {
        if payload.isEmpty { throw .malformedContainer("its payload has no bytes") }
        if payload.count % 16 != 0 {
            throw .malformedContainer("its payload has \(payload.count) bytes, not whole blocks of 16")
        }
        if payload.count > maximumPayloadLength {
            throw .malformedContainer("its payload has \(payload.count) bytes, more than \(maximumPayloadLength)")
        }
        if payload.upperBound < bytes.count {
            throw .malformedContainer("\(bytes.count - payload.upperBound) bytes follow its payload")
        }
    }
}
