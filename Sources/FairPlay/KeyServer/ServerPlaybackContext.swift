import Foundation
public import LatchkeyCore

/// An SPC that a key server opened and found whole: what the device says, and what the CKC needs.
///
/// The facts are for license decisions and logs. The session's secrets stay inside and are erased with the last copy.
///
/// Source: `fps-protocol.md` §4 and §5.
public struct ServerPlaybackContext: Sendable {
    /// The container's version: 1, 2 for test credentials, or an opener's.
    public let containerVersion: UInt32
    /// Which of the module's credentials the device encrypted to.
    public let credentialIndex: Int
    /// The tags whose blocks come back in the CKC, in the order asked, each once.
    public let requestedTags: [TLLVTag]

    let payload: TLLVSequence
    let session: SessionBytes

    /// What the app named the key by.
    public var assetID: ContentIdentifier { ContentIdentifier(bytes: Data(value(.assetID))) }

    /// An opaque number of the exchange, for logs.
    public var transactionID: TransactionID { TransactionID(rawValue: UInt64(bigEndian: value(.transactionID))) }

    /// The device's anonymized identifier (HU), 20 bytes. Counts devices roughly; the app may have it randomized.
    public var deviceIdentifier: Secret { session.deviceIdentifier }

    /// What the player does, when and in which session; nil where the device does not say.
    public var playback: MediaPlayback? {
        guard let value = payload.value(.mediaPlaybackState) else { return nil }
        let start = value.startIndex
        return MediaPlayback(
            created: Date(timeIntervalSince1970: TimeInterval(UInt32(bigEndian: value.prefix(4)))),
            state: PlaybackState(rawValue: UInt32(bigEndian: value[(start + 4)..<(start + 8)])),
            session: PlaybackSessionID(rawValue: UInt64(bigEndian: value.suffix(8))))
    }

    /// What the device can do; nothing where it does not say.
    public var capabilities: DeviceCapabilities {
        DeviceCapabilities(rawValue: payload.value(.capabilities).map { UInt64(bigEndian: $0.suffix(8)) } ?? 0)
    }

    /// Where the picture goes.
    public var destination: StreamingDestination {
        switch payload.value(.streamingIndicator).map({ UInt64(bigEndian: $0) }) {
        case 0xabb0_256a_3184_3974: .airPlay
        case 0x5f9c_8132_b59f_2fde: .digitalAVAdapter
        default: .device
        }
    }

    /// The protocol version that the device used; one that the module supports.
    public var protocolVersion: UInt32 { UInt32(bigEndian: value(.protocolVersionUsed)) }

    /// The protocol versions that the device supports.
    public var supportedProtocolVersions: [UInt32] { payload.numbers(.protocolVersionsSupported) }

    /// The blocks of the SPC, known and unknown, in its order. Positions are those in the decrypted payload.
    public var blocks: [TLLVBlock] { payload.blocks }

    /// The value of a block that `KeyServerModule` found to be there.
    private func value(_ tag: TLLVTag) -> ArraySlice<UInt8> { payload.value(tag) ?? [] }
}

extension TLLVSequence {
    /// The value of a block as a list of 4-byte numbers.
    func numbers(_ tag: TLLVTag) -> [UInt32] {
        guard let value = value(tag) else { return [] }
        return stride(from: value.startIndex, to: value.endIndex, by: 4).map {
            UInt32(bigEndian: value[$0..<min($0 + 4, value.endIndex)])
        }
    }
}
