import LatchkeyCore

/// The contents of a CKC and its problems, for `latchkey inspect ckc`. Contains no secrets.
///
/// The header is public. The rest needs the answered SPC, opened with its credentials.
package struct CKCReport: Sendable, Encodable {
    /// The number of bytes of the CKC.
    package let byteCount: Int
    /// The apparent format of bytes that are not a CKC, such as `JSON`.
    package let apparentFormat: String?
    /// The payload's IV in hexadecimal. It is not encrypted.
    package let iv: String?
    /// The number of bytes of the encrypted payload.
    package let payloadLength: Int?
    /// The payload's blocks in order, if they could be decrypted.
    package let blocks: [BlockSummary]?
    /// The terms, if they could be read.
    package let terms: TermsSummary?
    /// The problems. Empty if a device would accept the CKC, or if only the header can be read and it is correct.
    package let problems: [InspectionFinding]

    private enum CodingKeys: String, CodingKey {
        case byteCount = "bytes"
        case payloadLength = "payloadBytes"
        case apparentFormat = "likeness"
        case iv, blocks, terms, problems
    }

    /// - Parameters:
    ///   - ckc: the bytes to inspect, in any format.
    ///   - context: the SPC that the CKC answers; `nil` to inspect the header only.
    package init(_ ckc: some Collection<UInt8>, answering context: ServerPlaybackContext? = nil) {
        let ckc = [UInt8](ckc)
        byteCount = ckc.count
        do throws(FormatError) {
            let container = try CKCContainer(ckc)
            let blocks = context.flatMap { container.blocks(for: $0) }
            apparentFormat = nil
            iv = ckc[container.ivRange].hexString
            payloadLength = container.payloadRange.count
            self.blocks = blocks?.blocks.map(BlockSummary.init)
            let terms = blocks.flatMap { try? LicenseTerms($0) }
            self.terms = terms.map(TermsSummary.init)
            problems = context.map { Self.problems(blocks, terms, $0) } ?? []
        } catch {
            apparentFormat = error.apparentFormat
            iv = nil
            payloadLength = nil
            blocks = nil
            terms = nil
            problems = [InspectionFinding(error)]
        }
    }

    private static func problems(
        _ blocks: TLLVSequence?, _ terms: LicenseTerms?, _ context: ServerPlaybackContext
    ) -> [InspectionFinding] {
        let fromOther = InspectionFinding(
            .error, "wrongSPC", "The CKC does not answer this SPC, or was changed.",
            "Inspect it with the SPC that was sent for it.")
        guard let blocks, let r1 = blocks.value(.r1) else { return [fromOther] }
        guard context.session.withR1({ $0.elementsEqual(r1) }) else { return [fromOther] }
        var findings = context.requestedTags.compactMap { returned($0, blocks, context) }
        if blocks.value(.contentKey)?.count != 32 {
            let remedy = "Make the key server put the wrapped content key into the CKC."
            findings.append(InspectionFinding(.error, "noContentKey", "The CKC has no content key.", remedy))
        }
        if terms == nil {
            let remedy = "Check the key server's input."
            findings.append(InspectionFinding(.error, "badTerms", "The CKC's terms cannot be read.", remedy))
        }
        return findings
    }

    private static func returned(
        _ tag: TLLVTag, _ blocks: TLLVSequence, _ context: ServerPlaybackContext
    ) -> InspectionFinding? {
        let remedy = "Have the key server return the requested blocks byte for byte."
        guard let value = blocks.value(tag) else {
            return InspectionFinding(
                .error, "returnedBlockMissing", "The CKC lacks the requested block \(tag).", remedy)
        }
        if value != context.payload.blocks.value(tag) {
            return InspectionFinding(.error, "returnedBlockChanged", "The CKC changes the block \(tag).", remedy)
        }
        let isVerbatim = blocks.raw(tag) == context.payload.blocks.raw(tag)
        return isVerbatim
            ? nil
            : InspectionFinding(.warning, "returnedBlockPadded", "The CKC pads the block \(tag) anew.", remedy)
    }
}

extension CKCContainer {
    /// The blocks of a CKC that answers an SPC; `nil` if it answers another SPC.
    fileprivate func blocks(for context: ServerPlaybackContext) -> TLLVSequence? {
        guard let cipher = try? AESCBC() else { return nil }
        let key = try? context.session.withR1 { r1 throws(OpenSSLError) in
            try ContentKeyContextKey.make(r1: r1, seed: context.payload.antiReplaySeed, cipher)
        }
        return key.flatMap { try? blocks(key: $0, cipher) }
    }
}
