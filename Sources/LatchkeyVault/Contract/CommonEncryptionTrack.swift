package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay

/// The kinds of tracks that Shaka Packager asks keys for.
///
/// Source: `Documentation/LicenseServer.md` §4.
package enum CommonEncryptionTrack: String, Sendable, Hashable, CaseIterable {
    /// Audio.
    case audio = "AUDIO"
    /// Video in standard definition.
    case sd = "SD"
    /// Video in high definition.
    case hd = "HD"
    /// Video in ultra high definition up to 4K.
    case uhd1 = "UHD1"
    /// Video in ultra high definition beyond 4K.
    case uhd2 = "UHD2"

    /// The class that policies name.
    package var trackClass: TrackClass {
        switch self {
        case .audio: .audio
        case .sd: .sd
        case .hd: .hd
        case .uhd1: .uhd1
        case .uhd2: .uhd2
        }
    }

    private var number: UInt8 {
        switch self {
        case .audio: 1
        case .sd: 2
        case .hd: 3
        case .uhd1: 4
        case .uhd2: 5
        }
    }
}

extension CommonEncryptionTrack {
    /// The track and period of a key identifier, which only the content's name reveals.
    package struct Reading: Sendable, Hashable {
        /// The kind of tracks.
        package let track: CommonEncryptionTrack
        /// The crypto period; `nil` without rotation.
        package let period: UInt32?
    }

    /// The identifier of a track's key, the same on every node: 11 bytes of a hash over tenant and content, the track's number, and the
    /// period. So a license API that knows the content reads track and period from it, and no row has to be stored.
    /// - Parameters:
    ///   - content: the content.
    ///   - period: the crypto period; `nil` without rotation.
    ///   - tenant: the tenant's name.
    /// - Throws: an error if libcrypto cannot hash.
    package func keyID(content: ContentName, period: UInt32?, tenant: String) throws -> KeyID {
        let bytes = try Self.prefix(content, tenant) + [number | (period == nil ? 0 : 0x80)] + (period ?? 0).bytes
        guard let id = KeyID(bytes: bytes) else { throw OpenSSLError(in: "making a key identifier") }
        return id
    }

    /// The track and period of a key identifier; `nil` for another content's.
    package static func reading(_ kid: KeyID, content: ContentName, tenant: String) throws -> Reading? {
        let bytes = [UInt8](kid.bytes)
        guard bytes.count == 16, try bytes.starts(with: prefix(content, tenant)),
            let track = allCases.first(where: { $0.number == bytes[11] & 0x7f })
        else { return nil }
        let period = bytes[12...].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        guard bytes[11] & 0x80 != 0 || period == 0 else { return nil }
        return Reading(track: track, period: bytes[11] & 0x80 == 0 ? nil : period)
    }

    private static func prefix(_ content: ContentName, _ tenant: String) throws -> [UInt8] {
        var context = SealingContext("latchkey/kid/1")
        context.append(tenant.utf8)
        context.append(content.bytes)
        return Array(try MessageDigest.sha256(context.bytes).prefix(11))
    }
}
