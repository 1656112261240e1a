import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

/// `RSABatch` with a function that does not compute RSA. `CryptoMBTests` has functions that do.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RSABatchTests {
    /// The arguments that the function below has seen. A C function takes no closure along.
    private static let seen = Locked<(start: UInt, p: [UInt8])?>(nil)
    private static let pattern = [UInt8](repeating: 0x77, count: 256)

    /// Writes a pattern as every result, and keeps the address of the first lane and its p.
    private static let fake: RSABatch.Function = { texts, results, p, _, _, _, _, bits, _, _ in
        for lane in 0..<8 { results?[lane]?.update(repeating: 0x77, count: Int(bits) / 8) }
        if let text = texts?[0], let first = p?[0] {
            let bytes = Array(UnsafeRawBufferPointer(start: first, count: Int(bits) / 16))
            RSABatchTests.seen.withLock { $0 = (UInt(bitPattern: text), bytes) }
        }
        return 0
    }

    /// Makes no text.
    private static let unable: RSABatch.PublicFunction = { _, _, _, _, _, _ in 0 }

    private static func operations(_ count: Int) throws -> [RSABatch.Operation] {
        let credential = SPCForge.large.credential
        let key = try #require(credential.key as? RSAPrivateKey)
        var generator = SeededGenerator(seed: 5)
        return try (0..<count).map { number in
            let text = try credential.certificate.encryptOAEP([UInt8(number)], using: &generator)
            return RSABatch.Operation(key: key, text: text[...])
        }
    }

    @Test func `a function that computes nothing right changes no result`() throws {
        let outcomes = Locked<[RSABatch.Outcome]>([])
        let batch = RSABatch(Self.fake, check: Self.unable) { outcome in outcomes.withLock { $0.append(outcome) } }
        let results = try batch.decryptOAEP(Self.operations(8))
        #expect(results == (0..<8).map { Secret([UInt8($0)]) })
        #expect(outcomes.withLock { $0.map(\.wrong) } == [8])
    }

    @Test(.enabled(if: FileManager.default.isReadableFile(atPath: "/proc/self/mem"), "there is no /proc"))
    func `a call's input and output are erased`() throws {
        let operations = try Self.operations(8)
        // Allocated before the call's memory is freed, or it would take its place.
        let length = 8 * 1_664
        var bytes = [UInt8](repeating: 0, count: length)
        _ = RSABatch(Self.fake, check: Self.unable).decryptOAEP(operations)
        let (start, p) = try #require(Self.seen.withLock { $0 })
        #expect(p.count == 128)
        // The memory is free by now, and so read through the system. An unmapped page holds nothing.
        let file = open("/proc/self/mem", O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        guard pread(file, &bytes, length, Int(start)) == length else { return }
        let left = Data(bytes)
        #expect(left.range(of: Data(p[32..<64])) == nil)
        #expect(left.range(of: Data(Self.pattern[..<32])) == nil)
    }

    @Test func `a key of an unsupported size is decrypted alone`() throws {
        let key = try RSAPrivateKey(bits: 1_536)
        #expect(key.forLane == nil)
        #expect(SPCForge.small.privateKey.forLane?.size == 128)
    }
}
