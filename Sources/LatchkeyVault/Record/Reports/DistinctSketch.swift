import Foundation
import LatchkeyCore

/// An estimate of the number of different names, in 4 KiB whatever their number: HyperLogLog.
///
/// Each name's hash selects a register, which keeps the highest rank of its hashes: the position of their lowest set bit. Two sketches merge by the
/// higher rank of each register. PostgreSQL fills the registers (`PostgreSQLRollupSchema`); this type merges and counts.
///
/// Source: P. Flajolet et al., HyperLogLog (2007); O. Ertl, New cardinality estimation algorithms for HyperLogLog sketches (2017),
/// algorithm 6, whose estimate has no bias for small numbers.
package struct DistinctSketch: Sendable, Hashable {
    /// The number of registers, a power of two.
    package static let size = 4_096
    /// The bits of a hash that select no register.
    private static let rankBits = 52
    /// The standard error of an estimate: of three estimates two are at most this far off.
    package static let error = 1.04 / Double(size).squareRoot()

    private var registers: [UInt8]

    /// The sketch of no names.
    package init() { registers = [UInt8](repeating: 0, count: Self.size) }

    /// Reads registers, one byte each. `nil` if they are not a sketch's.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size, bytes.allSatisfy({ $0 <= Self.rankBits + 1 }) else { return nil }
        registers = bytes
    }

    /// Adds the names of another sketch.
    package mutating func merge(_ other: DistinctSketch) {
        for (index, rank) in other.registers.enumerated() where rank > registers[index] { registers[index] = rank }
    }

    /// The estimated number of different names.
    package var count: Int {
        var counts = [Double](repeating: 0, count: Self.rankBits + 2)
        for rank in registers { counts[Int(rank)] += 1 }
        let size = Double(Self.size)
        var sum = size * Self.tau(1 - counts[Self.rankBits + 1] / size)
        for count in counts[1...Self.rankBits].reversed() { sum = (sum + count) / 2 }
        sum += size * Self.sigma(counts[0] / size)
        return Int(saturating: (size * size / (2 * log(2) * sum)).rounded())
    }

    /// The share of empty registers, as a term of the sum: x + x² + 2x⁴ + 4x⁸ + …
    private static func sigma(_ share: Double) -> Double {
        guard share < 1 else { return .infinity }
        var (power, factor, sum, before) = (share, 1.0, share, -1.0)
        while sum != before {
            before = sum
            power *= power
            sum += power * factor
            factor *= 2
        }
        return sum
    }

    /// The share of full registers, as a term of the sum.
    private static func tau(_ share: Double) -> Double {
        guard share > 0, share < 1 else { return 0 }
        var (root, factor, sum, before) = (share, 1.0, 1 - share, -1.0)
        while sum != before {
            before = sum
            root = root.squareRoot()
            factor /= 2
            sum -= (1 - root) * (1 - root) * factor
        }
        return sum / 3
    }
}
