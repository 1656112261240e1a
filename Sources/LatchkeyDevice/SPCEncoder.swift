import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// Encodes one SPC.
///
/// Source: `Documentation/FairPlay.md` §2 to §5 and §11.
struct SPCEncoder {
    let device: SimulatedDevice
    let identifier: ContentIdentifier
    let options: SPCOptions

    func exchange(using generator: inout some RandomNumberGenerator) throws(OpenSSLError) -> KeyExchange {
        let session = SessionSecrets(using: &generator)
        let blocks = try blocks(session, using: &generator)
        var payload: [UInt8] = []
        var writer = TLLVWriter()
        for block in blocks { writer.add(block.tag, block.value) }
        writer.write(to: &payload, using: &generator)
        let spc = try seal(payload, using: &generator)
        return KeyExchange(
            spc: Secret(spc), contentIdentifier: identifier, session: session,
            requestedBlocks: Self.requestedBlocks(in: payload))
    }

    private typealias Block = (tag: TLLVTag, value: [UInt8])

    private func blocks(
        _ session: SessionSecrets, using generator: inout some RandomNumberGenerator
    ) throws(OpenSSLError) -> [Block] {
        let r2 = generator.bytes(21)
        let unknown = unknownBlocks(using: &generator)
        var blocks: [Block] = [
            (.sessionKeyAndR1, try sealed(session, r2: r2, using: &generator)),
            (.integrity, session.integrity.withUnsafeBytes { [UInt8]($0) }),
            (.antiReplaySeed, session.antiReplaySeed.withUnsafeBytes { [UInt8]($0) }),
            (.r2, r2),
            (.assetID, [UInt8](identifier.bytes)),
            (.transactionID, generator.bytes(8)),
            (.protocolVersionsSupported, options.protocolVersions.flatMap(\.bigEndianBytes)),
            (.protocolVersionUsed, options.protocolVersionUsed.bigEndianBytes),
        ]
        blocks += optionalBlocks(using: &generator)
        blocks += unknown
        let asked = options.returned + unknown.prefix(options.returnedUnknownBlocks).map(\.tag)
        blocks.append((.returnRequest, asked.shuffled(using: &generator).flatMap(\.rawValue.bigEndianBytes)))
        return blocks
    }

    private func optionalBlocks(using generator: inout some RandomNumberGenerator) -> [Block] {
        var blocks: [Block] = []
        if let state = options.playbackState {
            let session = options.playbackSession ?? PlaybackSessionID(rawValue: generator.next())
            let playback = MediaPlayback(
                created: options.created ?? device.timekeeper.date, state: state, session: session)
            blocks.append((.mediaPlaybackState, playback.blockValue))
        }
        if let capabilities = options.capabilities { blocks.append((.capabilities, capabilities.blockValue)) }
        if options.reportsOnStoredKeys { blocks.append((.offlineSync, [UInt8](repeating: 0, count: 28))) }
        if let destination = options.destination {
            // For their own screen, devices send a random number.
            blocks.append((.streamingIndicator, destination.wireCode?.bigEndianBytes ?? generator.bytes(8)))
        }
        return blocks
    }

    /// Blocks with random tags. Their lowest byte counts up, so that all tags differ.
    private func unknownBlocks(using generator: inout some RandomNumberGenerator) -> [Block] {
        (0..<max(0, options.unknownBlocks)).map { number in
            let tag = TLLVTag(rawValue: generator.next() & ~0xff | UInt64(number & 0xff))
            return (tag, generator.bytes(Int.random(in: 0...40, using: &generator)))
        }
    }

    /// The value of [SK..R1]: an IV, then session key, device identifier, R1 and integrity bytes, encrypted with the derived key.
    private func sealed(
        _ session: SessionSecrets, r2: [UInt8], using generator: inout some RandomNumberGenerator
    ) throws(OpenSSLError) -> [UInt8] {
        let iv = generator.bytes(16)
        var bytes: [UInt8] = []
        for part in [session.sessionKey, device.identifier, session.r1, session.integrity] {
            part.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        let key: Secret
        do throws(Diagnosis) {
            key = try InsecureTestDerivation().derivedKey(
                r2: Secret(r2), applicationSecret: device.applicationSecret, certificate: device.certificate)
        } catch {
            throw OpenSSLError(in: "the test derivation: \(error.reason)")
        }
        try key.withUnsafeBytes { key throws(OpenSSLError) in
            try AESCBC().apply(.encrypt, to: &bytes, key: key, iv: AESBlock(iv))
        }
        return iv + bytes
    }

    /// Encrypts the payload and writes the container: version 1 for 1024 bits, version 2 for 2048.
    private func seal(
        _ payload: [UInt8], using generator: inout some RandomNumberGenerator
    ) throws(OpenSSLError) -> [UInt8] {
        let iv = generator.bytes(16)
        let key = generator.bytes(16)
        var encrypted = payload
        try Secret(key).withUnsafeBytes { key throws(OpenSSLError) in
            try AESCBC().apply(.encrypt, to: &encrypted, key: key, iv: AESBlock(iv))
        }
        var spc: [UInt8] = []
        spc += UInt32(device.certificate.rsaBits == 1024 ? 1 : 2).bigEndianBytes
        spc += [0, 0, 0, 0]
        spc += iv
        spc += try device.certificate.encryptOAEP(key, using: &generator)
        spc += device.certificate.fingerprint
        spc += UInt32(encrypted.count).bigEndianBytes
        return spc + encrypted
    }

    /// The blocks that the CKC must return, as in the payload, with their padding.
    private static func requestedBlocks(in payload: [UInt8]) -> [RequestedBlock] {
        let written = try? TLLVSequence(payload)
        let tags: [UInt64] = written?.value(.returnRequest)?.bigEndianNumbers() ?? []
        return tags.map(TLLVTag.init).map { tag in
            RequestedBlock(tag: tag, bytes: written?.raw(tag).map { [UInt8]($0) } ?? [])
        }
    }
}
