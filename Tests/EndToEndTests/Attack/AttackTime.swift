import Foundation

/// How long the attacks take: five seconds, or what `Scripts/attack SECONDS` says.
enum AttackTime {
    private static let wanted = ProcessInfo.processInfo.environment["LATCHKEY_ATTACK_SECONDS"].flatMap { Double($0) }

    static let seconds = wanted ?? 5

    /// Prints figures where a person asked for an attack; a green test run prints nothing.
    static func report(_ figures: String) {
        if wanted != nil { FileHandle.standardError.write(Data("\(figures)\n".utf8)) }
    }
}
