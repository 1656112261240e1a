import LatchkeyCore

// Steps 7 to 11 of `fps-protocol.md` §8: from the decrypted payload to a checked context.
extension KeyServerModule {
    func context(
        of payload: [UInt8], containerVersion: UInt32, credentialIndex: Int, _ cipher: borrowing AESCBC
    ) throws(KSMRefusal) -> ServerPlaybackContext {
        let payload = try Self.blocks(of: payload)
        for (tag, length) in Self.lengths { try Self.check(tag, length, in: payload) }
        try Self.checkProtocolVersion(payload)
        let session = try session(payload, credential: credentials[credentialIndex], cipher)
        return ServerPlaybackContext(
            containerVersion: containerVersion, credentialIndex: credentialIndex,
            requestedTags: try Self.requestedTags(payload), payload: payload, session: session)
    }

    static func blocks(of payload: [UInt8]) throws(KSMRefusal) -> TLLVSequence {
        do throws(TLLVError) { return try TLLVSequence(payload) } catch { throw .blocks(error) }
    }

    /// How long a value has to be.
    private enum Length {
        case needed(ClosedRange<Int>, multipleOf: Int = 1)
        case optional(Int)
    }

    /// The nine blocks that every SPC needs, then the optional ones whose length is known.
    ///
    /// The return request is capped at as many tags as there may be blocks, so that a long one costs nothing.
    private static let lengths: [(TLLVTag, Length)] = [
        (.sessionKeyAndR1, .needed(112...112)), (.integrity, .needed(16...16)), (.antiReplaySeed, .needed(16...16)),
        (.r2, .needed(21...21)), (.assetID, .needed(2...200)), (.transactionID, .needed(8...8)),
        (.returnRequest, .needed(0...8 * TLLVSequence.maximumBlockCount, multipleOf: 8)),
        (.protocolVersionsSupported, .needed(4...1024, multipleOf: 4)), (.protocolVersionUsed, .needed(4...4)),
        (.streamingIndicator, .optional(8)), (.mediaPlaybackState, .optional(16)), (.capabilities, .optional(16)),
    ]

    private static func check(_ tag: TLLVTag, _ length: Length, in payload: TLLVSequence) throws(KSMRefusal) {
        guard let block = payload[tag] else {
            if case .needed = length { throw .missingTag(tag) }
            return
        }
        switch length {
        case .needed(let range, let factor):
            guard range.contains(block.valueLength), block.valueLength % factor == 0 else {
                let expected = range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
                throw .badLength(block, factor == 1 ? expected : "\(expected), a multiple of \(factor)")
            }
        case .optional(let count):
            guard block.valueLength == count else { throw .badLength(block, "\(count)") }
        }
    }

    /// The protocol versions that this module speaks.
    private static let protocolVersions: Set<UInt32> = [1]

    private static func checkProtocolVersion(_ payload: TLLVSequence) throws(KSMRefusal) {
        let used = payload.numbers(.protocolVersionUsed).first ?? 0
        let supported = payload.numbers(.protocolVersionsSupported)
        guard protocolVersions.contains(used), supported.contains(used) else {
            throw .protocolVersion(used, supported: Array(supported.prefix(8)))
        }
    }

    private func session(
        _ payload: TLLVSequence, credential: KeyServerCredential, _ cipher: borrowing AESCBC
    ) throws(KSMRefusal) -> SessionBytes {
        let key: Secret
        do {
            key = try derivation.derivedKey(r2: Secret(payload.value(.r2) ?? []), for: credential)
            guard key.count == 16 else { throw DerivationError.wrongLength(key.count) }
        } catch {
            throw .derivation(error)
        }
        let session: SessionBytes
        do throws(OpenSSLError) {
            session = try SessionBytes(payload.value(.sessionKeyAndR1) ?? [], key: key, cipher)
        } catch {
            throw .cipher(error)
        }
        guard session.isWhole(payload.value(.integrity) ?? []) else { throw .integrityDiffers }
        return session
    }

    /// What a CKC carries with values of its own; none of these can be asked back.
    private static let ownTags: Set<TLLVTag> = [.contentKey, .r1, .contentKeyDuration, .hdcpRequirement, .offlineKey]

    private static func requestedTags(_ payload: TLLVSequence) throws(KSMRefusal) -> [TLLVTag] {
        var reader = ByteReader(Array(payload.value(.returnRequest) ?? []))
        var tags: [TLLVTag] = []
        while let number = try? reader.uint64() {
            let tag = TLLVTag(rawValue: number)
            guard payload[tag] != nil else { throw .returnTagMissing(tag) }
            if ownTags.contains(tag) { throw .returnsOwnTag(tag) }
            if !tags.contains(tag) { tags.append(tag) }
        }
        return tags
    }
}
