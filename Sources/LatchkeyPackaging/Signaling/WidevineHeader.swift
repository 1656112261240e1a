import LatchkeyCore
import LatchkeyVault

/// The data of Widevine's `pssh` box: a protobuf message with the key ID (2), the provider (3), the content (4) and the scheme (9).
///
/// Source: `Documentation/LicenseServer.md` §2.4.
struct WidevineHeader {
    /// The message.
    let bytes: [UInt8]

    /// - Parameters:
    ///   - kid: the key's identifier.
    ///   - provider: the provider's name at Widevine; `nil` leaves it out.
    ///   - content: the content.
    ///   - scheme: the scheme, written as a number of four characters.
    init(kid: KeyID, provider: String?, content: ContentName, scheme: EncryptionScheme) {
        var bytes = Self.field(2, [UInt8](kid.bytes))
        if let provider { bytes += Self.field(3, Array(provider.utf8)) }
        bytes += Self.field(4, [UInt8](content.bytes))
        bytes += Self.varint(9 << 3) + Self.varint(scheme.fourCC)
        self.bytes = bytes
    }

    private static func field(_ number: UInt32, _ value: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(UInt32(clamping: value.count)) + value
    }

    private static func varint(_ value: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(truncatingIfNeeded: rest)]
    }
}
