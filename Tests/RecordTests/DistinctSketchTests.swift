import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(1))) struct DistinctSketchTests {
    /// A sketch of names whose hashes are the next random numbers.
    private static func sketch(of count: Int, _ generator: inout SeededGenerator) -> DistinctSketch? {
        var registers = [UInt8](repeating: 0, count: DistinctSketch.size)
        for _ in 0..<count {
            let hash = generator.next()
            let (register, rank) = (Int(hash % 4_096), UInt8(min(52, (hash >> 12).trailingZeroBitCount) + 1))
            registers[register] = max(registers[register], rank)
        }
        return DistinctSketch(registers)
    }

    @Test(arguments: [0, 1, 10, 100, 1_000, 4_000, 10_000, 20_000, 100_000, 1_000_000])
    func `an estimate is within four standard errors, without a bias`(_ count: Int) throws {
        var (generator, errors) = (SeededGenerator(seed: UInt64(count)), [Double]())
        for _ in 0..<(count > 100_000 ? 4 : 16) {
            let found = try #require(Self.sketch(of: count, &generator)).count
            errors.append(count == 0 ? Double(found) : Double(found) / Double(count) - 1)
        }
        let mean = errors.reduce(0, +) / Double(errors.count)
        #expect(errors.allSatisfy { abs($0) < 4 * DistinctSketch.error }, "\(errors)")
        #expect(abs(mean) < 4 * DistinctSketch.error / Double(errors.count).squareRoot(), "\(mean)")
    }

    @Test func `a merge counts common names once`() throws {
        var generator = SeededGenerator(seed: 7)
        let (common, own) = (Self.sketch(of: 50_000, &generator), Self.sketch(of: 50_000, &generator))
        var (one, other) = (try #require(common), try #require(own))
        other.merge(one)
        one.merge(other)
        #expect(one == other && abs(Double(one.count) / 100_000 - 1) < 4 * DistinctSketch.error, "\(one.count)")
        one.merge(DistinctSketch())
        #expect(one == other && DistinctSketch().count == 0)
    }

    @Test(arguments: [[UInt8](), [UInt8](repeating: 0, count: 4_095), [UInt8](repeating: 54, count: 4_096)])
    func `other bytes are rejected`(_ bytes: [UInt8]) {
        #expect(DistinctSketch(bytes) == nil)
    }

    @Test func `a percentile is in its license's bucket`() {
        var counts = LatencyCounts()
        #expect(counts.percentile(50) == nil)
        counts.counts = [80: 98, 112: 1, 160: 1]
        #expect([50, 98, 99, 100].map { counts.percentile($0) } == [1_069, 1_069, 17_109, 1_095_000])
    }
}
