import LatchkeyCore

// Steps 7 to 11 of `Documentation/FairPlay.md` §8: from the decrypted payload to a checked context.
extension KeyServerModule {
    func context(
        of payload: [UInt8], containerVersion: UInt32, credentialIndex: Int, _ cipher: borrowing AESCBC
    ) throws(KSMRefusal) -> ServerPlaybackContext {
        let payload = try SPCPayload(Self.blocks(of: payload))
        try Self.checkProtocolVersion(payload)
        let session = try session(payload, credential: credentials[credentialIndex], cipher)
        return ServerPlaybackContext(
            containerVersion: containerVersion, credentialIndex: credentialIndex,
            requestedTags: try Self.requestedTags(payload), payload: payload, session: session)
    }

    static func blocks(of payload: [UInt8]) throws(KSMRefusal) -> TLLVSequence {
        do throws(FormatError) { return try TLLVSequence(payload) } catch { throw .blocks(error) }
    }

    /// The protocol versions that this module supports.
    private static let protocolVersions: Set<UInt32> = [1]

    private static func checkProtocolVersion(_ payload: SPCPayload) throws(KSMRefusal) {
        let (used, supported) = (payload.protocolVersion, payload.supportedProtocolVersions)
        guard protocolVersions.contains(used), supported.contains(used) else {
            throw .protocolVersion(used, supported: Array(supported.prefix(8)))
        }
    }

    func session(
        _ payload: SPCPayload, credential: KeyServerCredential, _ cipher: borrowing AESCBC
    ) throws(KSMRefusal) -> SessionBytes {
        let key: Secret
        do {
            key = try derivation.derivedKey(r2: payload.r2, for: credential)
            guard key.count == 16 else { throw Diagnosis.wrongLength(key.count) }
        } catch {
            throw .derivation(error)
        }
        let session: SessionBytes
        do throws(OpenSSLError) {
            session = try SessionBytes(payload.sealedSession, key: key, cipher)
        } catch {
            throw .cipher(error)
        }
        guard session.isWhole(payload.integrity) else { throw .integrityDiffers }
        return session
    }

    /// The tags of blocks that the CKC fills itself. A device cannot ask for them.
    private static let ownTags: Set<TLLVTag> = [.contentKey, .r1, .contentKeyDuration, .hdcpRequirement, .offlineKey]

    /// The tags that the device asks for, each once.
    private static func requestedTags(_ payload: SPCPayload) throws(KSMRefusal) -> [TLLVTag] {
        var tags: [TLLVTag] = []
        for tag in payload.returnRequest {
            guard payload.blocks[tag] != nil else { throw .returnTagMissing(tag) }
            if ownTags.contains(tag) { throw .returnsOwnTag(tag) }
            if !tags.contains(tag) { tags.append(tag) }
        }
        return tags
    }
}
