import LatchkeyCore
import LatchkeyFairPlay

extension LicenseTerms {
    /// Reads the terms of a CKC as a device does.
    ///
    /// Source: `fps-protocol.md` §7.
    init(statedBy blocks: TLLVSequence) throws(CKCRejection) {
        let validity: Validity
        if let value = blocks.value(.offlineKey) {
            validity = try Self.dualExpiry(value)
        } else if let value = blocks.value(.contentKeyDuration) {
            validity = try Self.duration(value)
        } else {
            validity = .unlimited
        }
        self.init(validity, hdcp: try blocks.value(.hdcpRequirement).map(Self.hdcp))
    }

    private static func duration(_ value: ArraySlice<UInt8>) throws(CKCRejection) -> Validity {
        guard value.count == 16 else { throw .badTerms("the duration block has \(value.count) bytes") }
        let words = stride(from: value.startIndex, to: value.endIndex, by: 4).map {
            UInt32(bigEndian: value[$0..<$0 + 4])
        }
        switch words[2] {
        case 0x1a4b_de7e: return .lease(try seconds(words[0], of: "lease"))
        case 0x3dfe_45a0: return .rental(try seconds(words[1], of: "rental"))
        case 0x27b5_9bde:
            return .leaseAndRental(
                lease: try seconds(words[0], of: "lease"), rental: try seconds(words[1], of: "rental"))
        case 0x3df2_d9fb: return .persistent
        case 0x18f0_6048: return .persistentFor(try seconds(words[1], of: "storage"))
        default: throw .badTerms("the kind of key \(words[2].bigEndianBytes.hexString) is unknown")
        }
    }

    private static func dualExpiry(_ value: ArraySlice<UInt8>) throws(CKCRejection) -> Validity {
        guard value.count == 32, UInt32(bigEndian: value.prefix(4)) == 1 else {
            throw .badTerms("the offline key block has \(value.count) bytes, or another version than 1")
        }
        return .dualExpiry(
            storage: try seconds(UInt32(bigEndian: value.dropFirst(24).prefix(4)), of: "storage"),
            playback: try seconds(UInt32(bigEndian: value.suffix(4)), of: "playback"))
    }

    private static func seconds(_ seconds: UInt32, of what: String) throws(CKCRejection) -> Duration {
        guard seconds > 0 else { throw .badTerms("the \(what) is 0 seconds") }
        return .seconds(seconds)
    }

    private static func hdcp(_ value: ArraySlice<UInt8>) throws(CKCRejection) -> HDCPRequirement {
        guard value.count == 8 || value.count == 16 else {
            throw .badTerms("the HDCP block has \(value.count) bytes")
        }
        switch UInt64(bigEndian: value.prefix(8)) {
        case 0xef72_894c_a789_5b78: return .notRequired
        case 0x4079_1ac7_8bd5_c571: return .type0
        case 0x285a_0863_bba8_e1d3: return .type1
        case let code: throw .badTerms("the HDCP code \(code.bigEndianBytes.hexString) is unknown")
        }
    }
}
