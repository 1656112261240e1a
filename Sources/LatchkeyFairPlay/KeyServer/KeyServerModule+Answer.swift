public import LatchkeyCore

// Step 13 of `Documentation/FairPlay.md` §8: from the license decision to the CKC.
extension KeyServerModule {
    /// Makes the CKC that answers an SPC.
    ///
    /// Requested blocks are returned byte for byte. Durations are whole seconds from 1 to 2³²−1; others are rounded up or
    /// clamped. The CKC states a lease or rental only if the device stated its playback. It always states the terms of a
    /// persistent key, because they make the key persistent.
    ///
    /// - Parameters:
    ///   - context: the result of `open(_:)`.
    ///   - key: the content key and IV.
    ///   - terms: how long, and on which outputs, the key may be used.
    ///   - generator: gives the IV, and a seed for order and padding; 3 numbers are drawn. Only the device sees the padding,
    ///     so a seed is enough. Pass a `CryptographicGenerator` that lives as long as the thread.
    /// - Returns: the CKC's bytes.
    /// - Throws: `integrity` if libcrypto fails.
    public func contentKeyContext(
        for context: ServerPlaybackContext, key: ContentKey, terms: LicenseTerms,
        using generator: inout some RandomNumberGenerator
    ) throws(KSMRefusal) -> [UInt8] {
        do throws(OpenSSLError) {
            let iv = (generator.next().bigEndianBytes) + generator.next().bigEndianBytes
            var order = SeededGenerator(seed: generator.next())
            return try Self.answer(to: context, key: key, terms: terms, iv: iv, using: &order)
        } catch {
            throw .cipher(error)
        }
    }

    private static func answer(
        to context: ServerPlaybackContext, key: ContentKey, terms: LicenseTerms, iv: [UInt8],
        using random: inout SeededGenerator
    ) throws(OpenSSLError) -> [UInt8] {
        let cipher = try AESCBC()
        var writer = TLLVWriter()
        writer.add(.contentKey, try context.session.wrap(key, cipher))
        context.session.withR1 { writer.add(.r1, $0) }
        for tag in context.requestedTags {
            if let block = context.payload.blocks.raw(tag) { writer.add(verbatim: block) }
        }
        if let stated = try terms.validity.block(
            statesPlayback: context.playback != nil, assetID: context.assetID)
        {
            writer.add(stated.tag, stated.value)
        }
        if let hdcp = terms.hdcp { writer.add(.hdcpRequirement, hdcp.blockValue(using: &random)) }
        return try seal(&writer, for: context, iv: iv, cipher, using: &random)
    }

    private static func seal(
        _ writer: inout TLLVWriter, for context: ServerPlaybackContext, iv: [UInt8], _ cipher: borrowing AESCBC,
        using random: inout SeededGenerator
    ) throws(OpenSSLError) -> [UInt8] {
        var ckc: [UInt8] = []
        ckc.reserveCapacity(1024)
        ckc.append(bigEndian: 1 as UInt32)
        ckc.append(bigEndian: 0 as UInt32)
        ckc.append(contentsOf: iv)
        ckc.append(bigEndian: 0 as UInt32)
        writer.write(to: &ckc, using: &random)
        let payloadLength = UInt32(truncatingIfNeeded: ckc.count - CKCContainer.headerLength)
        ckc.replaceSubrange(24..<28, with: payloadLength.bigEndianBytes)
        let key = try context.session.withR1 { r1 throws(OpenSSLError) in
            try ContentKeyContextKey.make(r1: r1, seed: context.payload.antiReplaySeed, cipher)
        }
        try key.read(0..<16) { key throws(OpenSSLError) in
            try cipher.apply(.encrypt, to: &ckc, from: CKCContainer.headerLength, key: key, iv: AESBlock(iv))
        }
        return ckc
    }
}
