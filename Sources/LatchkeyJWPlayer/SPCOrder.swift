import Foundation
import Latchkey

/// The keys in the order in which JW Player makes their SPCs. It makes one at a time.
nonisolated struct SPCOrder {
    struct Turn {
        let number: Int
        let key: KeyURI
        /// Whether the certificate is there.
        var isReady = false
        /// Hands over the content identifier if the argument is `true`, and nothing otherwise.
        let begin: (Bool) -> Void
    }

    private static let limit = 16

    /// Whether JW Player asks for content identifiers.
    var namesKeys = false
    private(set) var waiting: [Turn] = []
    /// The latest keys whose SPCs have not come; the newest is last.
    private var awaited: [Turn] = []
    /// Whether the newest of these delays the keys that wait.
    private var isTaken = false
    /// The latest SPCs and their keys.
    private var taken: [(spc: Secret, key: KeyURI)] = []
    private var last = 0
    private var watched = 0
    /// How many SPCs of keys that were released may still come.
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

    /// Notes whether the certificate for a turn came.
    /// - Returns: The turn if it is over before it began, because there is no certificate.
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

    /// Finds the key of an SPC: most likely the key whose turn began last, or the key of the last SPC if no turn is open. An SPC that comes
    /// twice belongs to the same key; JW Player then asked for the identifier twice too, and the second turn brings no other SPC.
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

    /// Takes an SPC of no key for one of a released key, if any has not come.
    mutating func takeLate() -> Bool {
        guard late > 0 else { return false }
        late -= 1
        return true
    }

    /// Removes a key's first waiting turn, or else its begun turn, whose identifier was handed over already.
    private mutating func drop(_ key: KeyURI) -> Turn? {
        if let index = waiting.firstIndex(where: { $0.key == key }) { return waiting.remove(at: index) }
        guard let index = awaited.lastIndex(where: { $0.key == key }) else { return nil }
        if index == awaited.indices.last { isTaken = false }
        awaited.remove(at: index)
        return nil
    }

    /// The begun turn that other keys have to wait for; each turn is returned once.
    mutating func watch() -> Int? {
        guard isTaken, !waiting.isEmpty, let number = awaited.last?.number, number > watched else { return nil }
        watched = number
        return number
    }

    /// Lets the other keys begin although the SPC of this turn has not come.
    mutating func passOver(_ number: Int) {
        if awaited.last?.number == number { isTaken = false }
    }
}
