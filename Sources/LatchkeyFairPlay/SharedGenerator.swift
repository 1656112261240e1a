import LatchkeyCore

/// One generator of random numbers for any number of threads, for production.
///
/// It asks the system once for what `SystemRandomNumberGenerator` asks for in 128 calls. Those for the three numbers of a CKC were
/// three of the five system calls that a license over HTTP took.
package struct SharedGenerator: RandomNumberGenerator, Sendable {
    private let generator = Locked(CryptographicGenerator())

    package init() {}

    package func next() -> UInt64 { generator.withLock { $0.next() } }
}
