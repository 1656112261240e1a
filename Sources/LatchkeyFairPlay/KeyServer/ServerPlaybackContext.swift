import Foundation
public import LatchkeyCore

/// An opened and checked SPC: the device's statements, and the secrets that the CKC needs.
///
/// Only `KeyServerModule` makes one, after the integrity bytes matched. The facts are for license decisions and logs. They prove neither
/// that the SPC is new nor that HU is a stable identity. The session's secrets stay inside and are erased with the last copy.
///
/// Source: `Documentation/FairPlay.md` §4, §5 and §10.
public struct ServerPlaybackContext: Sendable {
    /// The container's version: 1, 2 for test credentials, or one that an `SPCOpener` reads.
    public let containerVersion: UInt32
    /// The index, in the module's credentials, of the certificate that the device encrypted to.
    public let credentialIndex: Int
    /// The tags whose blocks the CKC returns, in the requested order, each once.
    package let requestedTags: [TLLVTag]

    let payload: SPCPayload
    let session: SessionBytes

    /// The content identifier that the app gave the device.
    public var assetID: ContentIdentifier { payload.assetID }

    /// An opaque number of the exchange, for logs.
    public var transactionID: TransactionID { payload.transactionID }

    /// The device's anonymized identifier (HU), 20 bytes. Counts devices roughly; the app may randomize it.
    public var deviceIdentifier: Secret { session.deviceIdentifier }

    /// The player's state, session and time; `nil` if not stated.
    public var playback: MediaPlayback? { payload.playback }

    /// The device's capabilities; empty if not stated.
    public var capabilities: DeviceCapabilities { payload.capabilities }

    /// Where the device shows the picture.
    public var destination: StreamingDestination { payload.destination }

    /// The protocol version that the device used, which the module supports.
    public var protocolVersion: UInt32 { payload.protocolVersion }

    /// The protocol versions that the device supports.
    public var supportedProtocolVersions: [UInt32] { payload.supportedProtocolVersions }

    /// The blocks of the SPC, known and unknown, in its order. Offsets count from the start of the decrypted payload.
    package var blocks: [TLLVBlock] { payload.blocks.blocks }

    /// The secrets of the exchange, for code that opens the CKC instead of the device.
    package var deviceSecrets: (sessionKey: Secret, r1: Secret, integrity: Secret, antiReplaySeed: Secret) {
        (session.sessionKey, session.withR1 { Secret($0) }, Secret(payload.integrity), Secret(payload.antiReplaySeed))
    }

    /// A block as in the SPC, with header and padding; `nil` if absent.
    package func block(_ tag: TLLVTag) -> [UInt8]? { payload.blocks.raw(tag).map { [UInt8]($0) } }
}
