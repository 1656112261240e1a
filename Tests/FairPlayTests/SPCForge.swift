import Foundation
import LatchkeyCore

@testable import LatchkeyFairPlay

/// Builds correct and incorrect SPCs according to `Documentation/FairPlay.md` §2 to §5.
struct SPCForge {
    var credentials: TestCredentials
    var version: UInt32
    /// The blocks in writing order: tag and value, padded to a multiple of 16 bytes.
    var blocks: [(tag: TLLVTag, value: [UInt8])]
    var payloadKey = [UInt8](repeating: 0x51, count: 16)
    /// Replaces the payload's plaintext.
    var payload: [UInt8]?

    static let small = Forged.credentials(bits: 1024)
    static let other = Forged.credentials(bits: 1024)
    static let large = Forged.credentials(bits: 2048)

    static let sessionKey = [UInt8](repeating: 0x5e, count: 16)
    static let deviceIdentifier = [UInt8](repeating: 0x44, count: 20)
    static let r1 = [UInt8](0..<44)
    static let integrity = [UInt8](repeating: 0x1d, count: 16)
    static let seed = [UInt8](0xa0...0xaf)
    static let r2 = [UInt8](100..<121)

    init(_ credentials: TestCredentials = Self.small) {
        self.credentials = credentials
        version = credentials.credential.certificate.rsaBits == 1024 ? 1 : 2
        blocks = [
            (.sessionKeyAndR1, Self.sealedSession(credentials)),
            (.integrity, Self.integrity), (.antiReplaySeed, Self.seed), (.r2, Self.r2),
            (.returnRequest, TLLVTag.integrity.rawValue.bigEndianBytes + UInt64(0xfeed).bigEndianBytes),
            (.assetID, Array("asset".utf8)), (.transactionID, [UInt8](1...8)),
            (.protocolVersionsSupported, [0, 0, 0, 1, 0, 0, 0, 2]), (.protocolVersionUsed, [0, 0, 0, 1]),
            (TLLVTag(rawValue: 0xfeed), Array("opaque".utf8)),
            (.mediaPlaybackState, [0x69, 0x55, 0xb9, 0x00, 0xf4, 0xde, 0xe5, 0xa2, 1, 2, 3, 4, 5, 6, 7, 8]),
            (.capabilities, [UInt8](repeating: 0, count: 15) + [0b101]),
            (.streamingIndicator, TLLVTag.streamingIndicator.rawValue.bigEndianBytes),
        ]
    }

    /// The module that holds the forge's credentials.
    var module: KeyServerModule {
        KeyServerModule(
            credentials: [Self.other.credential, credentials.credential], derivation: InsecureTestDerivation())
    }

    /// The position of a block.
    subscript(tag: TLLVTag) -> [UInt8]? {
        get { blocks.first { $0.tag == tag }?.value }
        set {
            let position = blocks.firstIndex { $0.tag == tag }
            if let newValue, let position { blocks[position].value = newValue }
            if newValue == nil, let position { blocks.remove(at: position) }
        }
    }

    func spc() throws -> [UInt8] {
        var payload = payload ?? plaintext()
        let iv = [UInt8](16..<32)
        let key = [UInt8](repeating: 0x51, count: 16)
        try key.withUnsafeBytes { try AESCBC().apply(.encrypt, to: &payload, key: $0, iv: AESBlock(iv)) }
        let certificate = credentials.credential.certificate
        var generator = SeededGenerator(seed: 7)
        let wrapped = try certificate.encryptOAEP(payloadKey, using: &generator)
        return version.bigEndianBytes + [0, 0, 0, 0] + iv + wrapped + certificate.fingerprint
            + UInt32(payload.count).bigEndianBytes + payload
    }

    func plaintext() -> [UInt8] { blocks.flatMap { Self.block($0.tag, $0.value) } }

    static func block(_ tag: TLLVTag, _ value: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0xaa, count: (16 - value.count % 16) % 16)
        return tag.rawValue.bigEndianBytes + UInt32(value.count + padding.count).bigEndianBytes
            + UInt32(value.count).bigEndianBytes + value + padding
    }

    private static func sealedSession(_ credentials: TestCredentials) -> [UInt8] {
        let iv = [UInt8](repeating: 9, count: 16)
        var session = sessionKey + deviceIdentifier + r1 + integrity
        let key = try? InsecureTestDerivation().derivedKey(r2: Secret(r2), for: credentials.credential)
        key?.withUnsafeBytes { try? AESCBC().apply(.encrypt, to: &session, key: $0, iv: AESBlock(iv)) }
        return iv + session
    }
}

/// Credentials that all tests share, because making RSA keys is slow.
enum Forged {
    static func credentials(bits: Int) -> TestCredentials {
        do { return try TestCredentials.make(bits: bits) } catch { preconditionFailure("\(error)") }
    }
}
