import LatchkeyCore

/// One random number generator for any number of threads, for production.
///
/// It makes one system call where `SystemRandomNumberGenerator` makes 128. The three numbers of a CKC took three of the five
/// system calls of a license over HTTP.
package struct SharedGenerator: RandomNumberGenerator, Sendable {
    private let generator = Locked(CryptographicGenerator())

    package init() {}

    package func next() -> UInt64 { generator.withLock { $0.next() } }
}
