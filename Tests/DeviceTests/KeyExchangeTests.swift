import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDevice

@Suite struct KeyExchangeTests {
    private let setting = ExchangeSetting.small
    private let key: ContentKey
    private let exchange: KeyExchange

    init() throws {
        var generator = SeededGenerator(seed: 9)
        key = .random(using: &generator)
        exchange = try setting.device.exchange(for: "asset", using: &generator)
    }

    @Test func `a CKC for another SPC is rejected`() throws {
        var generator = SeededGenerator(seed: 10)
        let other = try setting.device.exchange(for: "asset", using: &generator)
        let ckc = try setting.module.answer(other, with: key)
        #expect(rejection(ckc)?.kind == .wrongSPC)
        #expect(rejection(ckc)?.systemNumber == -42668)
    }

    @Test(arguments: [
        ("{\"ckc\": \"AAAA\"}", "JSON"), ("<html>Forbidden</html>", "HTML"), ("AAAAAQAAAACqqqqq", "base64"),
        ("", "empty"),
    ])
    func `bytes that are not a CKC are named`(text: String, what: String) {
        let rejection = rejection(Array(text.utf8))
        #expect(rejection?.kind == .notACKC)
        #expect(rejection?.reason.contains(what) == true)
    }

    @Test func `a CKC cut anywhere is rejected`() throws {
        let ckc = try setting.module.answer(exchange, with: key)
        for count in 0..<ckc.count { #expect(rejection(Array(ckc.prefix(count)))?.kind == .notACKC) }
    }

    /// A CKC has no checksum: a flipped bit may change the wrapped key or the terms, but not the proof of the SPC.
    @Test func `a CKC with a flipped bit in its header or in R1 is rejected`() throws {
        let ckc = try setting.module.answer(exchange, with: key, LicenseTerms(.lease(.seconds(60))))
        let r1 = try r1Range(of: ckc)
        for position in ckc.indices where position < 4 || (24..<28).contains(position) || r1.contains(position) {
            var flipped = ckc
            flipped[position] ^= 1
            #expect(rejection(flipped) != nil, "byte \(position)")
        }
    }

    @Test(arguments: Tampering.allCases)
    func `a CKC that breaks a rule is rejected`(tampering: Tampering) throws {
        let ckc = try tampering.apply(to: exchange, setting, key)
        #expect(rejection(ckc)?.kind == tampering.kind)
    }

    @Test func `a saved exchange opens the CKC`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try exchange.save(to: file)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let restored = try KeyExchange(file: file)
        #expect(restored.spc == exchange.spc)
        #expect(restored.contentIdentifier == "asset")
        let ckc = try setting.module.answer(exchange, with: key, LicenseTerms(.rental(.seconds(5)), hdcp: .type0))
        let opened = try restored.open(ckc, at: ManualTimekeeper())
        #expect(opened.contentKey == key)
        #expect(opened.terms == LicenseTerms(.rental(.seconds(5)), hdcp: .type0))
    }

    @Test(arguments: ["", "{}", "{\"version\":2}", "no state"])
    func `a file that is not a saved exchange is refused`(text: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        #expect(throws: (any Error).self) { try KeyExchange(file: file) }
    }

    @Test func `neither an exchange nor a key prints a secret`() throws {
        let opened = try exchange.open(setting.module.answer(exchange, with: key), at: ManualTimekeeper())
        var text = "\(exchange) \(opened)"
        dump(exchange, to: &text)
        dump(opened, to: &text)
        for secret in [key.key, key.iv, exchange.session.r1, exchange.session.sessionKey, exchange.spc] {
            #expect(!text.contains(secret.revealed.hexString))
            #expect(!text.contains("\([UInt8](secret.revealed))"))
        }
    }

    /// The position of the encrypted R1 block in a CKC, including tag and lengths.
    private func r1Range(of bytes: [UInt8]) throws -> Range<Int> {
        let ckc = try CKCContainer(bytes)
        let blocks = try ckc.blocks(key: exchange.ckcKey(), AESCBC())
        let block = try #require(blocks[.r1])
        let start = ckc.payloadRange.lowerBound
        return start + block.range.lowerBound..<start + block.range.upperBound
    }

    private func rejection(_ ckc: [UInt8]) -> DeviceError? {
        do throws(DeviceError) {
            _ = try exchange.open(ckc, at: ManualTimekeeper())
            return nil
        } catch {
            return error
        }
    }
}

extension KeyExchange {
    /// The key that the CKC's payload is encrypted with.
    fileprivate func ckcKey() throws -> ErasedBytes {
        let seed = [UInt8](session.antiReplaySeed.revealed)[...]
        return try session.r1.withUnsafeBytes { try ContentKeyContextKey.make(r1: $0, seed: seed, AESCBC()) }
    }
}

/// Ways in which a key server can make a wrong CKC.
enum Tampering: CaseIterable {
    case otherR1, noR1, missingReturnedBlock, changedReturnedBlock, repaddedReturnedBlock
    case noContentKey, shortContentKey
    case unknownKeyType, zeroLease, shortDuration, unknownHDCP, offlineKeyVersion2

    var kind: DeviceError.Kind {
        switch self {
        case .otherR1, .noR1: .wrongSPC
        case .missingReturnedBlock: .returnedBlockMissing
        case .changedReturnedBlock, .repaddedReturnedBlock: .returnedBlockChanged
        case .noContentKey, .shortContentKey: .noContentKey
        case .unknownKeyType, .zeroLease, .shortDuration, .unknownHDCP, .offlineKeyVersion2: .badTerms
        }
    }

    /// Opens a correct CKC, changes its blocks and encrypts it again.
    func apply(to exchange: KeyExchange, _ setting: ExchangeSetting, _ key: ContentKey) throws -> [UInt8] {
        let ckc = try CKCContainer(setting.module.answer(exchange, with: key))
        let cipher = try AESCBC()
        let ckcKey = try exchange.ckcKey()
        let blocks = try ckc.blocks(key: ckcKey, cipher)
        var payload = blocks.blocks.flatMap { changed($0, blocks) } + added
        let header = ckc.bytes.prefix(24)
        try ckcKey.read(0..<16) { key in
            try cipher.apply(.encrypt, to: &payload, key: key, iv: AESBlock(header.suffix(16)))
        }
        return header + UInt32(payload.count).bigEndianBytes + payload
    }

    private func changed(_ block: TLLVBlock, _ blocks: TLLVSequence) -> [UInt8] {
        let value = Array(blocks.bytes[block.valueRange])
        let raw = Array(blocks.bytes[block.range])
        switch (self, block.tag) {
        case (.otherR1, .r1): return Self.block(block.tag, value.reversed())
        case (.noR1, .r1), (.missingReturnedBlock, .transactionID), (.noContentKey, .contentKey): return []
        case (.changedReturnedBlock, .transactionID): return Self.block(block.tag, value.reversed())
        case (.repaddedReturnedBlock, .transactionID): return Self.block(block.tag, value)
        case (.shortContentKey, .contentKey): return Self.block(block.tag, value.dropLast())
        default: return raw
        }
    }

    private var added: [UInt8] {
        switch self {
        case .unknownKeyType: Self.block(.contentKeyDuration, [UInt8](repeating: 1, count: 16))
        case .zeroLease: Self.block(.contentKeyDuration, [0, 0, 0, 0, 0, 0, 0, 0, 0x1a, 0x4b, 0xde, 0x7e, 0, 0, 0, 0])
        case .shortDuration: Self.block(.contentKeyDuration, [0, 0, 0, 1])
        case .unknownHDCP: Self.block(.hdcpRequirement, [UInt8](repeating: 1, count: 8))
        case .offlineKeyVersion2: Self.block(.offlineKey, [0, 0, 0, 2] + [UInt8](repeating: 1, count: 28))
        default: []
        }
    }

    private static func block(_ tag: TLLVTag, _ value: [UInt8]) -> [UInt8] {
        let padding = (16 - value.count % 16) % 16
        return tag.rawValue.bigEndianBytes + UInt32(value.count + padding).bigEndianBytes
            + UInt32(value.count).bigEndianBytes + value + [UInt8](repeating: 0xee, count: padding)
    }
}
