import Foundation
import LatchkeyCore

/// The decrypted payload of an SPC, with typed values for the blocks that a key server reads.
///
/// Source: `Documentation/FairPlay.md` §4 and §8, steps 7 to 9.
struct SPCPayload: Sendable {
    /// All blocks, known and unknown, in the SPC's order.
    let blocks: TLLVSequence
    /// An IV and the encrypted session bytes, 112 bytes.
    let sealedSession: ArraySlice<UInt8>
    /// The expected last 16 bytes of the decrypted session bytes.
    let integrity: ArraySlice<UInt8>
    /// The seed of the CKC's key, 16 bytes.
    let antiReplaySeed: ArraySlice<UInt8>
    /// The input of the derivation, 21 bytes.
    let r2: Secret
    let assetID: ContentIdentifier
    let transactionID: TransactionID
    /// The tags that the device asks for, in its order.
    let returnRequest: [TLLVTag]
    let supportedProtocolVersions: [UInt32]
    let protocolVersion: UInt32
    let destination: StreamingDestination
    let playback: MediaPlayback?
    let capabilities: DeviceCapabilities

    /// - Throws: `missingTag` or `badLength` for the first known block that is missing or has a wrong length.
    init(_ blocks: TLLVSequence) throws(KSMRefusal) {
        self.blocks = blocks
        sealedSession = try blocks.required(.sessionKeyAndR1, 112...112)
        integrity = try blocks.required(.integrity, 16...16)
        antiReplaySeed = try blocks.required(.antiReplaySeed, 16...16)
        r2 = Secret(try blocks.required(.r2, 21...21))
        assetID = ContentIdentifier(bytes: Data(try blocks.required(.assetID, 2...200)))
        transactionID = TransactionID(rawValue: UInt64(bigEndian: try blocks.required(.transactionID, 8...8)))
        // At most one tag per possible block, so that a long list costs nothing.
        let tags = try blocks.required(.returnRequest, 0...8 * TLLVSequence.maximumBlockCount, multipleOf: 8)
        returnRequest = tags.bigEndianNumbers().map(TLLVTag.init)
        supportedProtocolVersions = try blocks.required(.protocolVersionsSupported, 4...1024, multipleOf: 4)
            .bigEndianNumbers()
        protocolVersion = UInt32(bigEndian: try blocks.required(.protocolVersionUsed, 4...4))
        destination = StreamingDestination(blockValue: try blocks.optional(.streamingIndicator, 8...8))
        playback = try blocks.optional(.mediaPlaybackState, 16...16).map(MediaPlayback.init(blockValue:))
        capabilities = DeviceCapabilities(blockValue: try blocks.optional(.capabilities, 16...16))
    }
}

extension TLLVSequence {
    /// The value of a required block.
    fileprivate func required(
        _ tag: TLLVTag, _ lengths: ClosedRange<Int>, multipleOf factor: Int = 1
    ) throws(KSMRefusal) -> ArraySlice<UInt8> {
        guard let value = try optional(tag, lengths, multipleOf: factor) else { throw .missingTag(tag) }
        return value
    }

    /// The value of a block; `nil` if absent.
    fileprivate func optional(
        _ tag: TLLVTag, _ lengths: ClosedRange<Int>, multipleOf factor: Int = 1
    ) throws(KSMRefusal) -> ArraySlice<UInt8>? {
        guard let block = self[tag] else { return nil }
        guard lengths.contains(block.valueLength), block.valueLength % factor == 0 else {
            let expected =
                lengths.count == 1 ? "\(lengths.lowerBound)" : "\(lengths.lowerBound) to \(lengths.upperBound)"
            throw .badLength(block, factor == 1 ? expected : "\(expected), a multiple of \(factor)")
        }
        return bytes[block.valueRange]
    }
}
