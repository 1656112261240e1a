import LatchkeyCore

/// The 8-byte tag of a block in an SPC or a CKC.
///
/// Source: `Documentation/FairPlay.md` §4 and §7.
package struct TLLVTag: RawRepresentable, Sendable, Hashable {
    /// The tag as a big-endian number.
    package let rawValue: UInt64

    /// - Parameter rawValue: any number. Unknown tags are normal.
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension TLLVTag {
    /// Session key, device identifier and R1, encrypted; 112 bytes.
    package static let sessionKeyAndR1 = TLLVTag(rawValue: 0x3d1a_10b8_bffa_c2ec)
    /// The expected value of the last 16 decrypted bytes of `sessionKeyAndR1`.
    package static let integrity = TLLVTag(rawValue: 0xb349_d480_9e91_0687)
    /// The seed of the CKC's key; 16 bytes.
    package static let antiReplaySeed = TLLVTag(rawValue: 0x89c9_0f12_2041_06b2)
    /// The input of the derivation; 21 bytes.
    package static let r2 = TLLVTag(rawValue: 0x71b5_595a_c152_1133)
    /// The tags of the blocks that must come back in the CKC; 8 bytes each.
    package static let returnRequest = TLLVTag(rawValue: 0x19f9_d4e5_ab76_09cb)
    /// The content identifier; 2 to 200 bytes.
    package static let assetID = TLLVTag(rawValue: 0x1bf7_f53f_5d5d_5a1f)
    /// An opaque number of the exchange; 8 bytes.
    package static let transactionID = TLLVTag(rawValue: 0x47aa_7ad3_4405_77de)
    /// The protocol versions that the device supports; 4 bytes each.
    package static let protocolVersionsSupported = TLLVTag(rawValue: 0x67b8_fb79_ecce_1a13)
    /// The protocol version that the device used; 4 bytes.
    package static let protocolVersionUsed = TLLVTag(rawValue: 0x5d81_bcbc_c7f6_1703)
    /// Where the device shows the picture; 8 bytes.
    package static let streamingIndicator = TLLVTag(rawValue: 0xabb0_256a_3184_3974)
    /// Creation time, state and session of the playback; 16 bytes.
    package static let mediaPlaybackState = TLLVTag(rawValue: 0xeb8e_fdf2_b25a_b3a0)
    /// The device's capabilities; 16 bytes of flags.
    package static let capabilities = TLLVTag(rawValue: 0x9c02_af32_53c0_7fb2)
    /// A report on a stored key, opaque; 28 bytes.
    package static let offlineSync = TLLVTag(rawValue: 0x7796_6de1_dc10_83ad)

    /// The content's IV and the wrapped content key; 32 bytes.
    package static let contentKey = TLLVTag(rawValue: 0x58b3_8165_af0e_3d5a)
    /// R1 of the SPC, unchanged; 44 bytes.
    package static let r1 = TLLVTag(rawValue: 0xea74_c464_5d5e_fee9)
    /// Lease, rental and kind of key; 16 bytes.
    package static let contentKeyDuration = TLLVTag(rawValue: 0x47ac_f6a4_18cd_091a)
    /// The protection that the display needs; 16 bytes, but some servers write 8.
    package static let hdcpRequirement = TLLVTag(rawValue: 0x2e52_f153_0d8d_db4a)
    /// Storage and playback duration of a stored key; 32 bytes.
    package static let offlineKey = TLLVTag(rawValue: 0x6375_d972_7060_218c)
}

extension TLLVTag: CustomStringConvertible {
    /// Sixteen hexadecimal digits, followed by the tag's name if it has one.
    package var description: String { name.map { "\(hex) (\($0))" } ?? hex }

    /// Sixteen hexadecimal digits.
    package var hex: String { rawValue.bigEndianBytes.hexString }

    /// The name of the tag; `nil` if it is unknown.
    package var name: String? { Self.names[self] }

    private static let names: [TLLVTag: String] = [
        .sessionKeyAndR1: "[SK..R1]", .integrity: "[SK..R1] integrity", .antiReplaySeed: "anti-replay seed",
        .r2: "R2", .returnRequest: "return request", .assetID: "asset ID", .transactionID: "transaction ID",
        .protocolVersionsSupported: "protocol versions supported", .protocolVersionUsed: "protocol version used",
        .streamingIndicator: "streaming indicator", .mediaPlaybackState: "media playback state",
        .capabilities: "capabilities", .offlineSync: "offline sync", .contentKey: "encrypted content key", .r1: "R1",
        .contentKeyDuration: "content key duration", .hdcpRequirement: "HDCP requirement", .offlineKey: "offline key",
    ]
}
