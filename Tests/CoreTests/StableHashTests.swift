import LatchkeyCore
import Testing

@Suite struct StableHashTests {
    /// Source: RFC 9923, appendix of test vectors.
    @Test(
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8),
        ] as [(String, UInt64)])
    func `published values match`(text: String, hash: UInt64) {
        #expect(text.utf8.stableHash() == hash)
    }

    @Test func `a seed changes the result`() {
        #expect("a".utf8.stableHash(seed: 1) != "a".utf8.stableHash())
    }
}
