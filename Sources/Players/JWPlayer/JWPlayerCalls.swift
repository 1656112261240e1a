import Foundation
public import Latchkey

/// Hears why a key did not come or ended; nil for the key where the failure concerns all.
public typealias JWPlayerErrorListener = @Sendable (ContentKeyError, KeyURI?) -> Void

/// What JW Player asks of an app for its keys, in both generations: a content identifier, the certificate, a license.
///
/// It asks for the license of an SPC without saying for which key. So it makes one SPC at a time here: it gets the content
/// identifier of the next key when the SPC of the last has come. Licenses are got at the same time.
// Sound: what changes is in `turns`, behind a lock.
final class JWPlayerCalls: @unchecked Sendable {
    private let keys: PlayerKeys
    private let patience: Duration
    private let timekeeper: any Timekeeper
    private let onError: JWPlayerErrorListener
    private let lock = NSLock()
    private var turns = Turns()

    init(
        _ loader: ContentKeyLoader, _ patience: Duration, _ timekeeper: any Timekeeper,
        _ onError: @escaping JWPlayerErrorListener
    ) {
        keys = PlayerKeys(loader) { onError($1, $0) }
        self.patience = patience
        self.timekeeper = timekeeper
        self.onError = onError
    }

    deinit { release() }

    /// The certificate comes first: an SPC is then a matter of the player alone, and how long it takes says something.
    func contentIdentifier(for url: URL, _ answer: @escaping (Data?) -> Void) {
        let key = KeyURI(url.absoluteString)
        let identifier: Data
        do throws(ContentKeyError) { identifier = try keys.loader.contentIdentifier(for: key).bytes } catch {
            fail(error, key)
            return answer(nil)
        }
        let turn = change { $0.add(key) { answer($0 ? identifier : nil) } }
        certificate(for: url) { [weak self] certificate in
            self?.change { $0.settle(turn, certificate != nil) }?.begin(false)
        }
    }

    func certificate(for url: URL, _ answer: @escaping (Data?) -> Void) {
        // Sound: as above.
        nonisolated(unsafe) let answer = answer
        keys.certificate { [weak self] result in
            if case .failure(let error) = result { self?.fail(error, KeyURI(url.absoluteString)) }
            answer(try? result.get())
        }
    }

    /// - Parameter purpose: what a key is asked for, where that is known, by the names that JW Player may have for it.
    func license(for spc: Data, _ purpose: ([String]) -> KeyPurpose?, _ answer: @escaping (PlayerLicense?) -> Void) {
        let (found, repeated) = change { $0.take(for: spc) }
        repeated?.begin(true)
        guard let key = found else {
            fail(.keyUnnamed, nil)
            return answer(nil)
        }
        let identifier = try? keys.loader.contentIdentifier(for: key)
        let names = [key.raw] + [identifier].compactMap { $0.map { String(decoding: $0.bytes, as: UTF8.self) } }
        // Sound: as above.
        nonisolated(unsafe) let answer = answer
        keys.license(for: spc, key: key, purpose: purpose(names)) { [weak self] result in
            if case .failure(let error) = result { self?.fail(error, key) }
            answer(try? result.get())
        }
    }

    /// Ends all that is open, and lets the keys go.
    func release() {
        let waiting = lock.withLock {
            defer { turns = Turns() }
            return turns.waiting
        }
        for turn in waiting { turn.begin(false) }
        keys.release()
    }

    private func fail(_ error: ContentKeyError, _ key: KeyURI?) {
        if error.kind != .cancelled { onError(error, key) }
    }

    /// Changes the turns, and has the next key begin where it may.
    private func change<Value>(_ body: (inout Turns) -> Value) -> Value {
        let (value, next, slow) = lock.withLock { (body(&turns), turns.next(), turns.watch()) }
        next?.begin(true)
        // Where JW Player makes no SPC for a key, the others come all the same.
        if let slow {
            Task { [weak self, timekeeper, patience] in
                try? await timekeeper.sleep(for: patience)
                self?.change { $0.passOver(slow) }
            }
        }
        return value
    }
}

/// Keys in the order in which JW Player makes their SPCs.
private struct Turns {
    struct Turn {
        let number: Int
        let key: KeyURI
        /// Whether the certificate is there.
        var isReady = false
        /// Hands over the content identifier, or nothing.
        let begin: (Bool) -> Void
    }

    private static let limit = 16

    private(set) var waiting: [Turn] = []
    /// The latest keys whose SPCs are to come, the newest last.
    private var awaited: [Turn] = []
    /// Whether the newest of them keeps others waiting.
    private var isTaken = false
    /// The latest SPCs and their keys.
    private var taken: [(spc: Secret, key: KeyURI)] = []
    private var last = 0
    private var watched = 0

    /// - Returns: the turn's number.
    mutating func add(_ key: KeyURI, _ begin: @escaping (Bool) -> Void) -> Int {
        last += 1
        waiting.append(Turn(number: last, key: key, begin: begin))
        return last
    }

    /// The certificate for a turn came, or did not.
    /// - Returns: the turn, where it is over before it began.
    mutating func settle(_ number: Int, _ isGood: Bool) -> Turn? {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return nil }
        waiting[index].isReady = isGood
        return isGood ? nil : waiting.remove(at: index)
    }

    /// The turn that begins now.
    mutating func next() -> Turn? {
        guard !isTaken, waiting.first?.isReady == true else { return nil }
        isTaken = true
        awaited = awaited.suffix(Self.limit - 1) + [waiting.removeFirst()]
        return awaited.last
    }

    /// The key that an SPC is most likely for: the last that began, or the last of all where no identifier was asked for again. An SPC
    /// that comes twice is for the same key; then the identifier was asked for twice too, and that turn brings no other SPC.
    /// - Returns: the key, and the turn that is over.
    mutating func take(for spc: Data) -> (key: KeyURI?, repeated: Turn?) {
        let spc = Secret(spc)
        if let key = taken.last(where: { $0.spc == spc })?.key { return (key, drop(key)) }
        isTaken = false
        guard let key = awaited.popLast()?.key ?? taken.last?.key else { return (nil, nil) }
        taken = taken.suffix(Self.limit - 1) + [(spc, key)]
        return (key, nil)
    }

    /// Takes out a key's first turn that waits, or else the one whose SPC is awaited, whose identifier was handed over already.
    private mutating func drop(_ key: KeyURI) -> Turn? {
        if let index = waiting.firstIndex(where: { $0.key == key }) { return waiting.remove(at: index) }
        guard let index = awaited.lastIndex(where: { $0.key == key }) else { return nil }
        if index == awaited.indices.last { isTaken = false }
        awaited.remove(at: index)
        return nil
    }

    /// The turn that others begin to wait for.
    mutating func watch() -> Int? {
        guard isTaken, !waiting.isEmpty, let number = awaited.last?.number, number > watched else { return nil }
        watched = number
        return number
    }

    mutating func passOver(_ number: Int) {
        if awaited.last?.number == number { isTaken = false }
    }
}

extension ContentKeyError {
    fileprivate static let keyUnnamed = ContentKeyError(
        .keyUnnamed, stage: .spc, "JW Player made an SPC and had asked for no key.",
        remedy: "Use one data source for each player.")
}
