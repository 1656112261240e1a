import Foundation
import Latchkey

/// The keys in the order in which JW Player makes their SPCs, one at a time.
nonisolated struct SPCOrder {
    struct Turn {
        let number: Int
        let key: KeyURI
        /// Whether the certificate is available.
        var isReady = false
        /// Delivers the content identifier if the argument is `true`, and no identifier otherwise.
        let begin: (Bool) -> Void
    }

    private static let limit = 16

    /// Whether JW Player requests content identifiers.
    var namesKeys = false
    private(set) var waiting: [Turn] = []
    /// The latest keys without an SPC; the newest is last.
    private var awaited: [Turn] = []
    /// Whether the newest of these delays the waiting keys.
    private var isTaken = false
    /// The latest SPCs and their keys.
    private var taken: [(spc: Secret, key: KeyURI)] = []
    private var last = 0
    private var watched = 0
    /// The number of SPCs of released keys that may still arrive.
    private var late = 0

    init() {}

    /// The order of the next source.
    init(after released: SPCOrder) { late = released.awaited.count + released.late }

    /// - Returns: The number of the key's turn.
    mutating func add(_ key: KeyURI, _ begin: @escaping (Bool) -> Void) -> Int {
        last += 1
        waiting.append(Turn(number: last, key: key, begin: begin))
        return last
    }

    /// Records whether the certificate for a turn arrived.
    /// - Returns: The turn if it ended before it began, because there is no certificate.
    mutating func settle(_ number: Int, hasCertificate: Bool) -> Turn? {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return nil }
        waiting[index].isReady = hasCertificate
        return hasCertificate ? nil : waiting.remove(at: index)
    }

    /// The turn that begins now.
    mutating func next() -> Turn? {
        guard !isTaken, waiting.first?.isReady == true else { return nil }
        isTaken = true
        awaited = awaited.suffix(Self.limit - 1) + [waiting.removeFirst()]
        return awaited.last
    }

    /// Finds the key of an SPC: most likely the key whose turn began last, or the key of the last SPC if no turn is open. An SPC that
    /// arrives twice belongs to the same key; JW Player then requested the identifier twice too, and the second turn brings no other SPC.
    /// - Returns: The key, and the second turn if there is one.
    mutating func take(for spc: Data) -> (key: KeyURI?, repeated: Turn?) {
        let spc = Secret(spc)
        if let key = taken.last(where: { $0.spc == spc })?.key { return (key, drop(key)) }
        isTaken = false
        guard let key = awaited.popLast()?.key ?? taken.last?.key else { return (nil, nil) }
        late = 0
        taken = taken.suffix(Self.limit - 1) + [(spc, key)]
        return (key, nil)
    }

    /// Attributes an SPC without a key to a released key, if one is still expected.
    mutating func takeLate() -> Bool {
        guard late > 0 else { return false }
        late -= 1
        return true
    }

    /// Removes a key's first waiting turn, or else its begun turn, whose identifier was already delivered.
    private mutating func drop(_ key: KeyURI) -> Turn? {
        if let index = waiting.firstIndex(where: { $0.key == key }) { return waiting.remove(at: index) }
        guard let index = awaited.lastIndex(where: { $0.key == key }) else { return nil }
        if index == awaited.indices.last { isTaken = false }
        awaited.remove(at: index)
        return nil
    }

    /// The begun turn for which other keys have to wait; each turn is returned once.
    mutating func watch() -> Int? {
        guard isTaken, !waiting.isEmpty, let number = awaited.last?.number, number > watched else { return nil }
        watched = number
        return number
    }

    /// Lets the other keys begin although the SPC of this turn has not arrived.
    mutating func passOver(_ number: Int) {
        if awaited.last?.number == number { isTaken = false }
    }
}
