import Foundation
public import LatchkeyCore

/// An SPC that a key server opened and checked: what the device says, and what the CKC needs.
///
/// The facts are for license decisions and logs. The session's secrets stay inside and are erased with the last copy.
///
/// Source: `Documentation/FairPlay.md` §4 and §5.
public struct ServerPlaybackContext: Sendable {
    /// The container's version: 1, 2 for test credentials, or one that an `SPCOpener` reads.
    public let containerVersion: UInt32
    /// The index, in the module's credentials, of the certificate that the device encrypted to.
    public let credentialIndex: Int
    /// The tags whose blocks come back in the CKC, in the order asked, each once.
    package let requestedTags: [TLLVTag]

    let payload: SPCPayload
    let session: SessionBytes

    /// The content identifier that the app gave the device.
    public var assetID: ContentIdentifier { payload.assetID }

    /// An opaque number of the exchange, for logs.
    public var transactionID: TransactionID { payload.transactionID }

    /// The device's anonymized identifier (HU), 20 bytes. Counts devices roughly; the app may have it randomized.
    public var deviceIdentifier: Secret { session.deviceIdentifier }

    /// What the player does, when and in which session; `nil` if the device does not say.
    public var playback: MediaPlayback? { payload.playback }

    /// What the device can do; empty if it does not say.
    public var capabilities: DeviceCapabilities { payload.capabilities }

    /// Where the device shows the picture.
    public var destination: StreamingDestination { payload.destination }

    /// The protocol version that the device used; one that the module supports.
    public var protocolVersion: UInt32 { payload.protocolVersion }

    /// The protocol versions that the device supports.
    public var supportedProtocolVersions: [UInt32] { payload.supportedProtocolVersions }

    /// The blocks of the SPC, known and unknown, in its order. Offsets count from the start of the decrypted payload.
    package var blocks: [TLLVBlock] { payload.blocks.blocks }

    /// The secrets of the exchange, for whoever opens the CKC in the device's place.
    package var deviceSecrets: (sessionKey: Secret, r1: Secret, integrity: Secret, antiReplaySeed: Secret) {
        (session.sessionKey, session.withR1 { Secret($0) }, Secret(payload.integrity), Secret(payload.antiReplaySeed))
    }

    /// A block as it is in the SPC, with header and padding; `nil` if the SPC does not have it.
    package func block(_ tag: TLLVTag) -> [UInt8]? { payload.blocks.raw(tag).map { [UInt8]($0) } }
}
