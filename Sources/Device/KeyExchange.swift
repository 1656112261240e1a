public import LatchkeyCore
import LatchkeyFairPlay

/// One SPC and what its device keeps to open the CKC that answers it.
///
/// Its secrets are erased with the last copy. A CKC for another SPC does not open with it.
public struct KeyExchange: Sendable {
    /// The SPC, to be sent to the key server.
    public let spc: Secret
    /// What the key was named by.
    public let contentIdentifier: ContentIdentifier

    let session: SessionSecrets
    let requestedBlocks: [RequestedBlock]
}

extension KeyExchange: CustomStringConvertible {
    public var description: String { "exchange for \(contentIdentifier), SPC \(spc)" }
}

/// A block that has to come back, as it stood in the SPC.
struct RequestedBlock: Sendable {
    let tag: TLLVTag
    /// Header, value and padding; empty where the device asked for a block that it did not send.
    let bytes: [UInt8]
}

/// What only the device knows of an exchange.
///
/// Source: `fps-protocol.md` §5 and §6.
struct SessionSecrets: Sendable {
    /// 16 bytes; wraps the content key.
    let sessionKey: Secret
    /// 44 bytes; comes back in the CKC.
    let r1: Secret
    /// 16 bytes; proves that the server derived the right key.
    let integrity: Secret
    /// 16 bytes; makes the CKC's key with R1.
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
