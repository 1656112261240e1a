package import Foundation
public import LatchkeyCore
package import LatchkeyFairPlay

/// An SPC, and the secrets with which its device opens the answering CKC.
///
/// Each CKC answers exactly one SPC: opening the CKC of another SPC fails. The secrets are erased with the last copy. They
/// never leave this value except through `save(to:)`, for another process of the same test.
public struct KeyExchange: Sendable {
    /// The SPC, for the key server.
    public let spc: Secret
    /// The content identifier in the SPC.
    public let contentIdentifier: ContentIdentifier

    let session: SessionSecrets
    let requestedBlocks: [RequestedBlock]
}

extension KeyExchange {
    /// Recreates another device's exchange from an SPC that a key server opened.
    package init(_ spc: Data, openedAs context: ServerPlaybackContext) {
        let secrets = context.deviceSecrets
        self.init(
            spc: Secret(spc), contentIdentifier: context.assetID,
            session: SessionSecrets(
                sessionKey: secrets.sessionKey, r1: secrets.r1, integrity: secrets.integrity,
                antiReplaySeed: secrets.antiReplaySeed),
            requestedBlocks: context.requestedTags.map { RequestedBlock(tag: $0, bytes: context.block($0) ?? []) })
    }
}

extension KeyExchange: CustomStringConvertible {
    public var description: String { "exchange for \(contentIdentifier), SPC \(spc)" }
}

/// A block that the CKC must return, as in the SPC.
struct RequestedBlock: Sendable {
    let tag: TLLVTag
    /// Header, value and padding; empty if the device asked for a block that it did not send.
    let bytes: [UInt8]
}

/// The secrets of an exchange that only the device knows.
///
/// Source: `Documentation/FairPlay.md` §5 and §6.
struct SessionSecrets: Sendable {
    /// 16 bytes. Wraps the content key.
    let sessionKey: Secret
    /// 44 bytes. Returned in the CKC.
    let r1: Secret
    /// 16 bytes. Proves that the server derived the right key.
    let integrity: Secret
    /// 16 bytes. Together with R1, gives the CKC's key.
    let antiReplaySeed: Secret
}

extension SessionSecrets {
    init(using generator: inout some RandomNumberGenerator) {
        sessionKey = Secret(generator.bytes(16))
        r1 = Secret(generator.bytes(44))
        integrity = Secret(generator.bytes(16))
        antiReplaySeed = Secret(generator.bytes(16))
    }
}
