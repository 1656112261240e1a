import Foundation

/// How long the attacks take: a few rounds in the tests, as many seconds as `Scripts/attack SECONDS` says otherwise.
enum AttackTime {
    /// `nil` in the tests, so that a busy machine attacks as often as a quiet one.
    static let seconds = ProcessInfo.processInfo.environment["LATCHKEY_ATTACK_SECONDS"].flatMap { Double($0) }

    /// When attacks end that begin now.
    /// - Parameter share: the part of all seconds that they may take.
    static func end(share: Double = 1) -> ContinuousClock.Instant { .now + .seconds((seconds ?? 0) * share) }

    /// Prints figures where a person asked for an attack; a green test run prints nothing.
    static func report(_ figures: String) {
        if seconds != nil { FileHandle.standardError.write(Data("\(figures)\n".utf8)) }
    }
}
