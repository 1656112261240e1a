public import LatchkeyCore
import LatchkeyFairPlay

extension KeyExchange {
    /// Opens the CKC that answers the SPC, and checks it as a device does.
    ///
    /// R1 must match, and the requested blocks must match byte for byte, including padding.
    ///
    /// - Parameters:
    ///   - ckc: the CKC's bytes, without any envelope.
    ///   - timekeeper: the time when the CKC arrives. Leases and rentals start now.
    public func open(
        _ ckc: some Collection<UInt8>, at timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(DeviceError) -> DeviceKey {
        let container: CKCContainer
        do throws(FormatError) { container = try CKCContainer([UInt8](ckc)) } catch { throw DeviceError(error) }
        let blocks = try decrypted(container)
        try check(blocks)
        return DeviceKey(
            contentKey: try contentKey(blocks), terms: try terms(blocks), acceptedAt: DeviceTime(timekeeper))
    }

    private func decrypted(_ container: CKCContainer) throws(DeviceError) -> TLLVSequence {
        do {
            let cipher = try AESCBC()
            let seed = session.antiReplaySeed.withUnsafeBytes { [UInt8]($0) }
            let key = try session.r1.withUnsafeBytes { r1 throws(OpenSSLError) in
                try ContentKeyContextKey.make(r1: r1, seed: seed[...], cipher)
            }
            return try container.blocks(key: key, cipher)
        } catch let error as OpenSSLError {
            throw DeviceError(error, .openingCKC)
        } catch {
            // With the key of another exchange, a payload decrypts to noise.
            throw .wrongSPC("its payload does not decrypt to blocks")
        }
    }

    private func check(_ blocks: TLLVSequence) throws(DeviceError) {
        guard let r1 = blocks.value(.r1) else { throw .wrongSPC("it has no R1") }
        guard Secret(r1) == session.r1 else { throw .wrongSPC("its R1 differs") }
        for requested in requestedBlocks {
            guard let returned = blocks.raw(requested.tag) else { throw .returnedBlock(requested.tag, isMissing: true) }
            guard returned == requested.bytes[...] else { throw .returnedBlock(requested.tag, isMissing: false) }
        }
    }

    private func terms(_ blocks: TLLVSequence) throws(DeviceError) -> LicenseTerms {
        do throws(FormatError) { return try LicenseTerms(blocks) } catch { throw DeviceError(error) }
    }

    private func contentKey(_ blocks: TLLVSequence) throws(DeviceError) -> ContentKey {
        guard let value = blocks.value(.contentKey) else { throw .noContentKey("the block is missing") }
        guard value.count == 32 else { throw .noContentKey("the block has \(value.count) bytes") }
        var key = [UInt8](value.suffix(16))
        defer { erase(&key) }
        do throws(OpenSSLError) {
            try session.sessionKey.withUnsafeBytes { sessionKey throws(OpenSSLError) in
                try AESCBC().apply(.decrypt, to: &key, key: sessionKey)
            }
        } catch {
            throw DeviceError(error, .openingCKC)
        }
        guard let content = ContentKey(key: Secret(key), iv: Secret(value.prefix(16))) else {
            throw .noContentKey("it is not 16 bytes")
        }
        return content
    }
}
