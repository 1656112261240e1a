import Foundation

/// How long the attacks take: a few rounds in the tests, or the number of seconds of `Scripts/attack SECONDS`.
enum AttackTime {
    /// `nil` in the tests, so that a busy machine attacks as often as a quiet one.
    static let seconds = ProcessInfo.processInfo.environment["LATCHKEY_ATTACK_SECONDS"].flatMap { Double($0) }

    /// Whether the attacks are too short to judge figures by.
    static let isBrief = (seconds ?? 0) < 300

    /// How many rounds the attacks have, each as long as the others: after each the server's memory is measured.
    static let rounds = seconds == nil ? 2 : 6

    /// When a round ends that begins now.
    static func endOfRound() -> ContinuousClock.Instant { .now + .seconds((seconds ?? 0) / Double(rounds)) }

    /// When attacks end that begin now and have no rounds.
    static func end() -> ContinuousClock.Instant { .now + .seconds(seconds ?? 0) }

    /// The program to attack, such as one of a release build; `nil` if it was not built.
    static func program(_ name: String) -> String? {
        guard let folder = ProcessInfo.processInfo.environment["LATCHKEY_ATTACK_PROGRAMS"] else {
            return ToolProcess.binary(name)
        }
        return "\(folder)/\(name)"
    }

    /// Prints figures if a person asked for an attack; a green test run prints nothing.
    static func report(_ figures: String) {
        if seconds != nil { FileHandle.standardError.write(Data("\(figures)\n".utf8)) }
    }
}
