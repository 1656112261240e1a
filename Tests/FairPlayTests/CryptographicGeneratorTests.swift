import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

@Suite struct CryptographicGeneratorTests {
    @Test func `numbers do not repeat, beyond the buffer or in another generator`() {
        let generators = [CryptographicGenerator(), CryptographicGenerator()]
        let numbers = generators.flatMap { generator in (0..<1_000).map { _ in generator.next() } }
        #expect(Set(numbers).count == 2_000)
    }
}

@Suite struct OAEPTests {
    @Test(arguments: [0, 1, 16, 86])
    func `libcrypto decrypts our encoded messages`(count: Int) throws {
        var generator = SeededGenerator(seed: 1)
        let message = generator.bytes(count)
        let wrapped = try SPCForge.small.credential.certificate.encryptOAEP(message, using: &generator)
        #expect(wrapped.count == 128)
        #expect(SPCForge.small.credential.unwrap(wrapped) == Secret(message))
    }

    @Test func `a message longer than the key allows is refused`() {
        var generator = SeededGenerator(seed: 1)
        #expect(throws: OpenSSLError.self) {
            try SPCForge.small.credential.certificate.encryptOAEP(generator.bytes(87), using: &generator)
        }
    }
}
