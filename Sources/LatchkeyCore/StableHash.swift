extension Sequence<UInt8> {
    /// 64-bit FNV-1a: equal for equal bytes, on each machine and in each run, unlike `Hasher`. It spreads and correlates; it does not
    /// protect.
    ///
    /// - Parameter seed: changes all results. Defaults to 0.
    ///
    /// Source: RFC 9923.
    @inlinable package func stableHash(seed: UInt64 = 0) -> UInt64 {
        reduce(0xcbf2_9ce4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
