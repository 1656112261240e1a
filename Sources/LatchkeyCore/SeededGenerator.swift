/// A random number generator that gives the same numbers for the same seed: SplitMix64.
///
/// For tests, demonstrations and repeatable faults. Never use it for keys: production code takes `SystemRandomNumberGenerator`.
///
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// - Parameter seed: any number. It alone determines the sequence.
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension RandomNumberGenerator {
    /// An array of random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        // Otherwise the standard library would write to the empty array that all threads share, which the thread sanitizer reports.
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                var word = next()
                for _ in 0..<Swift.min(8, count - filled) {
                    buffer.initializeElement(at: filled, to: UInt8(truncatingIfNeeded: word))
                    word >>= 8
                    filled += 1
                }
            }
        }
    }
}
