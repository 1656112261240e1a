import LatchkeyCore
import Testing

@Suite struct SeededGeneratorTests {
    // The first numbers of the algorithm's reference implementation for this seed.
    @Test func `the numbers match SplitMix64`() {
        var generator = SeededGenerator(seed: 1_234_567)
        let numbers = (0..<3).map { _ in generator.next() }
        #expect(numbers == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
    }

    @Test func `seeds give different numbers`() {
        var one = SeededGenerator(seed: 1)
        var other = SeededGenerator(seed: 2)
        #expect(one.next() != other.next())
    }

    @Test(arguments: [0, 1, 7, 8, 9, 33])
    func `as many bytes come as requested`(count: Int) {
        var generator = SeededGenerator(seed: 3)
        var again = SeededGenerator(seed: 3)
        let bytes = generator.bytes(count)
        #expect(bytes.count == count)
        #expect(bytes == Array(again.bytes(40).prefix(count)))
    }
}
