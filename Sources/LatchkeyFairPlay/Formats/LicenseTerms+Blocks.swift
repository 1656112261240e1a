package import LatchkeyCore

/// The kind of key in a CKC's duration block.
///
/// Source: `Documentation/FairPlay.md` §7, key types.
enum KeyType: UInt32 {
    case lease = 0x1a4b_de7e
    case rental = 0x3dfe_45a0
    case leaseAndRental = 0x27b5_9bde
    case persistent = 0x3df2_d9fb
    case persistentFor = 0x18f0_6048
}

extension LicenseTerms.Validity {
    /// The block that states the terms; `nil` if no block is needed.
    ///
    /// A lease or rental is stated only if the device stated its playback (§7). The terms of a persistent key are always
    /// stated: its SPC may lack a playback block, and without the terms the device would not store the key.
    func block(
        statesPlayback: Bool, assetID: ContentIdentifier
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

    /// The value of the offline key block, 32 bytes.
    ///
    ///      offset  0         4     8                          24        28
    ///             +---------+-----+--------------------------+---------+----------+
    ///             | version | 0   | content ID:              | storage | playback |
    ///             | 1       |     | SHA-1(asset ID)[0, 16)   | seconds | seconds  |
    ///             +---------+-----+--------------------------+---------+----------+
    ///
    /// The asset ID may be longer than the field, hence the hash. A device repeats the content ID in its reports, so that a
    /// server can find the asset.
    private static func offlineKey(
        _ assetID: ContentIdentifier, storage: Duration, playback: Duration
    ) throws(OpenSSLError) -> [UInt8] {
        var value: [UInt8] = []
        value.reserveCapacity(32)
        value.append(bigEndian: 1 as UInt32)
        value.append(bigEndian: 0 as UInt32)
        value.append(contentsOf: try MessageDigest.sha1(Array(assetID.bytes)).prefix(16))
        value.append(bigEndian: storage.wholeSeconds)
        value.append(bigEndian: playback.wholeSeconds)
        return value
    }
}

extension LicenseTerms {
    /// Reads the terms from a CKC's blocks, as strictly as a device does.
    /// - Throws: a `FormatError` with `badTerms` for a block of the wrong length, a duration of 0 seconds or an unknown number.
    package init(_ blocks: TLLVSequence) throws(FormatError) {
        let validity: Validity
        if let value = blocks.value(.offlineKey) {
            validity = try Self.dualExpiry(value)
        } else if let value = blocks.value(.contentKeyDuration) {
            validity = try Self.duration(value)
        } else {
            validity = .unlimited
        }
        self.init(validity, hdcp: try blocks.value(.hdcpRequirement).map(HDCPRequirement.init(blockValue:)))
    }

    private static func duration(_ value: ArraySlice<UInt8>) throws(FormatError) -> Validity {
        guard value.count == 16 else { throw .badTerms("the duration block has \(value.count) bytes") }
        let words: [UInt32] = value.bigEndianNumbers()
        switch KeyType(rawValue: words[2]) {
        case .lease: return .lease(try seconds(words[0], of: "lease"))
        case .rental: return .rental(try seconds(words[1], of: "rental"))
        case .leaseAndRental:
            return .leaseAndRental(
                lease: try seconds(words[0], of: "lease"), rental: try seconds(words[1], of: "rental"))
        case .persistent: return .persistent
        case .persistentFor: return .persistentFor(try seconds(words[1], of: "storage"))
        case nil: throw .badTerms("the kind of key \(words[2].bigEndianBytes.hexString) is unknown")
        }
    }

    private static func dualExpiry(_ value: ArraySlice<UInt8>) throws(FormatError) -> Validity {
        guard value.count == 32, UInt32(bigEndian: value.prefix(4)) == 1 else {
            throw .badTerms("the offline key block has \(value.count) bytes, or another version than 1")
        }
        let times: [UInt32] = value.suffix(8).bigEndianNumbers()
        return .dualExpiry(
            storage: try seconds(times[0], of: "storage"), playback: try seconds(times[1], of: "playback"))
    }

    private static func seconds(_ seconds: UInt32, of what: String) throws(FormatError) -> Duration {
        guard seconds > 0 else { throw .badTerms("the \(what) is 0 seconds") }
        return .seconds(seconds)
    }
}

extension Duration {
    /// Whole seconds as a CKC states them: rounded up, 1 to 2³²−1.
    package var wholeSeconds: UInt32 {
        let (whole, fraction) = clamped.components
        let seconds = whole + (fraction > 0 ? 1 : 0)
        return UInt32(clamping: max(1, seconds))
    }
}

extension HDCPRequirement {
    /// The requirement's number on the wire.
    var wireCode: UInt64 {
        switch self {
        case .notRequired: 0xef72_894c_a789_5b78
        case .type0: 0x4079_1ac7_8bd5_c571
        case .type1: 0x285a_0863_bba8_e1d3
        }
    }

    /// The block's value: the code (8), random bytes (8).
    func blockValue(using random: inout some RandomNumberGenerator) -> [UInt8] {
        var value = wireCode.bigEndianBytes
        random.append(8, to: &value)
        return value
    }

    /// - Parameter value: 16 bytes, or only the 8 bytes of the code.
    fileprivate init(blockValue value: ArraySlice<UInt8>) throws(FormatError) {
        guard value.count == 8 || value.count == 16 else {
            throw .badTerms("the HDCP block has \(value.count) bytes")
        }
        let code = UInt64(bigEndian: value.prefix(8))
        guard let known = Self.allCases.first(where: { $0.wireCode == code }) else {
            throw .badTerms("the HDCP code \(code.bigEndianBytes.hexString) is unknown")
        }
        self = known
    }
}
