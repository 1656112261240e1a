import LatchkeyCore

/// How a CKC states license terms.
///
/// Source: `fps-protocol.md` §7, key types.
enum KeyType: UInt32 {
    case lease = 0x1a4b_de7e
    case rental = 0x3dfe_45a0
    case leaseAndRental = 0x27b5_9bde
    case persistent = 0x3df2_d9fb
    case persistentFor = 0x18f0_6048
}

extension LicenseTerms.Validity {
    /// The block that states the terms; nil where there is nothing to state.
    ///
    /// A lease or rental is stated only where the device stated its playback (§7). A key to be stored is always stated:
    /// an SPC for one may come without a playback, and without the block the device would not store the key.
    func block(
        statesPlayback: Bool, assetID: ArraySlice<UInt8>
    ) throws(OpenSSLError) -> (tag: TLLVTag, value: [UInt8])? {
        switch self {
        case .unlimited: nil
        case .lease(let lease): statesPlayback ? Self.duration(.lease, lease: lease) : nil
        case .rental(let rental): statesPlayback ? Self.duration(.rental, rental: rental) : nil
        case .leaseAndRental(let lease, let rental):
            statesPlayback ? Self.duration(.leaseAndRental, lease: lease, rental: rental) : nil
        case .persistent: Self.duration(.persistent)
        case .persistentFor(let storage): Self.duration(.persistentFor, rental: storage)
        case .dualExpiry(let storage, let playback):
            (.offlineKey, try Self.offlineKey(assetID, storage: storage, playback: playback))
        }
    }

    private static func duration(
        _ type: KeyType, lease: Duration? = nil, rental: Duration? = nil
    ) -> (TLLVTag, [UInt8]) {
        var value: [UInt8] = []
        value.reserveCapacity(16)
        value.append(bigEndian: lease?.wholeSeconds ?? 0)
        value.append(bigEndian: rental?.wholeSeconds ?? 0)
        value.append(bigEndian: type.rawValue)
        value.append(bigEndian: 0x86d3_4a3a as UInt32)
        return (.contentKeyDuration, value)
    }

    /// The content ID of the block, which a device repeats in its reports, is cut from the SHA-1 of the asset ID: 16 bytes
    /// that a server can find the asset by, however long its ID is.
    private static func offlineKey(
        _ assetID: ArraySlice<UInt8>, storage: Duration, playback: Duration
    ) throws(OpenSSLError) -> [UInt8] {
        var value: [UInt8] = []
        value.reserveCapacity(32)
        value.append(bigEndian: 1 as UInt32)
        value.append(bigEndian: 0 as UInt32)
        value.append(contentsOf: try MessageDigest.sha1(Array(assetID)).prefix(16))
        value.append(bigEndian: storage.wholeSeconds)
        value.append(bigEndian: playback.wholeSeconds)
        return value
    }
}

extension LicenseTerms {
    /// Reads the terms from a CKC's blocks; nil where a block of theirs has an odd length or an unknown kind of key.
    init?(_ blocks: TLLVSequence) {
        self.init()
        if let value = blocks.value(.hdcpRequirement) {
            guard let hdcp = HDCPRequirement(blockValue: value) else { return nil }
            self.hdcp = hdcp
        }
        if let value = blocks.value(.offlineKey) {
            guard value.count == 32 else { return nil }
            let times = value.suffix(8)
            validity = .dualExpiry(storage: Self.seconds(times.prefix(4)), playback: Self.seconds(times.suffix(4)))
        } else if let value = blocks.value(.contentKeyDuration) {
            guard let stated = Self.validity(value) else { return nil }
            validity = stated
        }
    }

    private static func validity(_ value: ArraySlice<UInt8>) -> Validity? {
        let lease = seconds(value.prefix(4))
        let rental = seconds(value.dropFirst(4).prefix(4))
        switch KeyType(rawValue: UInt32(bigEndian: value.dropFirst(8).prefix(4))) {
        case _ where value.count != 16: return nil
        case .lease: return .lease(lease)
        case .rental: return .rental(rental)
        case .leaseAndRental: return .leaseAndRental(lease: lease, rental: rental)
        case .persistent: return .persistent
        case .persistentFor: return .persistentFor(rental)
        case nil: return nil
        }
    }

    private static func seconds(_ bytes: ArraySlice<UInt8>) -> Duration { .seconds(UInt32(bigEndian: bytes)) }
}

extension Duration {
    /// Whole seconds as a CKC can state them: rounded up, 1 to 2³²−1.
    var wholeSeconds: UInt32 {
        let seconds = components.seconds + (components.attoseconds > 0 ? 1 : 0)
        return UInt32(clamping: max(1, seconds))
    }
}

extension HDCPRequirement {
    /// The number of the requirement on the wire.
    var wireCode: UInt64 {
        switch self {
        case .notRequired: 0xef72_894c_a789_5b78
        case .type0: 0x4079_1ac7_8bd5_c571
        case .type1: 0x285a_0863_bba8_e1d3
        }
    }

    /// The block's value: the code and 8 random bytes.
    func blockValue(using random: inout some RandomNumberGenerator) -> [UInt8] {
        var value = wireCode.bigEndianBytes
        random.append(8, to: &value)
        return value
    }

    /// - Parameter value: 16 bytes, or the 8 of the code alone.
    init?(blockValue value: ArraySlice<UInt8>) {
        let code = UInt64(bigEndian: value.prefix(8))
        guard value.count == 8 || value.count == 16, let known = Self.allCases.first(where: { $0.wireCode == code })
        else { return nil }
        self = known
    }
}
