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
    let keys: PlayerKeys
    private let timekeeper: any Timekeeper
    private let patience: Duration
    private let onError: JWPlayerErrorListener
    private let lock = NSLock()
    private var turns = Turns()

    init(_ loader: ContentKeyLoader, _ options: JWPlayerOptions, _ onError: @escaping JWPlayerErrorListener) {
        keys = PlayerKeys(loader) { onError($1, $0) }
        timekeeper = options.timekeeper
        patience = options.patience
        self.onError = onError
    }

    deinit { release() }

    func contentIdentifier(for url: URL, _ answer: @escaping (Data?) -> Void) {
        let key = KeyURI(url.absoluteString)
        do throws(ContentKeyError) {
            let identifier = try keys.loader.contentIdentifier(for: key).bytes
            let (first, isWaiting) = lock.withLock {
                (turns.add(key) { answer($0 ? identifier : nil) }, turns.isCrowded)
            }
            first?.begin(true)
            if isWaiting { watch() }
        } catch {
            fail(error, key)
            answer(nil)
        }
    }

    func certificate(for url: URL, _ answer: @escaping (Data?) -> Void) {
        let key = KeyURI(url.absoluteString)
        // Sound: called once, and JW Player says nothing about threads.
        nonisolated(unsafe) let answer = answer
        keys.certificate { [weak self] result in
            switch result {
            case .success(let certificate): answer(certificate)
            case .failure(let error):
                // No SPC will come.
                self?.next { $0.end(key) }
                self?.fail(error, key)
                answer(nil)
            }
        }
    }

    func license(for spc: Data, _ purpose: (KeyURI) -> KeyPurpose?, _ answer: @escaping (PlayerLicense?) -> Void) {
        guard let key = takeTurn() else {
            fail(.keyUnnamed, nil)
            return answer(nil)
        }
        // Sound: as above.
        nonisolated(unsafe) let answer = answer
        keys.license(for: spc, key: key, purpose: purpose(key)) { [weak self] result in
            switch result {
            case .success(let license): answer(license)
            case .failure(let error):
                self?.fail(error, key)
                answer(nil)
            }
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
}

// MARK: - Turns

extension JWPlayerCalls {
    /// The key that an SPC is for, whose turn is over.
    private func takeTurn() -> KeyURI? {
        var key: KeyURI?
        next { key = $0.take() }
        return key
    }

    /// Changes the turns, and has the next key begin where it may.
    private func next(_ change: (inout Turns) -> Void) {
        let (next, isWaiting) = lock.withLock {
            change(&turns)
            return (turns.next(), turns.isCrowded)
        }
        next?.begin(true)
        if next != nil, isWaiting { watch() }
    }

    /// Where JW Player makes no SPC for a key, the others come all the same.
    private func watch() {
        guard let number = lock.withLock({ turns.watch() }) else { return }
        Task { [weak self, timekeeper, patience] in
            try? await timekeeper.sleep(for: patience)
            self?.next { $0.passOver(number) }
        }
    }
}

/// Keys in the order in which JW Player makes their SPCs.
private struct Turns {
    struct Turn {
        let number: Int
        let key: KeyURI
        /// Hands over the content identifier, or nothing.
        let begin: (Bool) -> Void
    }

    /// How many keys are remembered whose SPCs did not come; of more, the oldest is forgotten.
    private static let overdueLimit = 16

    /// The key whose SPC is to come.
    private var current: Turn?
    /// Keys whose SPCs did not come in time, the newest last.
    private var overdue: [Turn] = []
    private(set) var waiting: [Turn] = []
    private var latest: KeyURI?
    private var watched = 0
    private var count = 0

    /// Whether a key waits for another.
    var isCrowded: Bool { current != nil && !waiting.isEmpty }

    /// - Returns: the turn that begins.
    mutating func add(_ key: KeyURI, _ begin: @escaping (Bool) -> Void) -> Turn? {
        count += 1
        waiting.append(Turn(number: count, key: key, begin: begin))
        return next()
    }

    /// - Returns: the turn that begins.
    mutating func next() -> Turn? {
        guard current == nil, !waiting.isEmpty else { return nil }
        current = waiting.removeFirst()
        return current
    }

    /// The key that an SPC is most likely for: the one whose turn it is, the last that was passed over, or, where JW Player
    /// did not ask for an identifier again, the last of all.
    mutating func take() -> KeyURI? {
        latest = current?.key ?? overdue.popLast()?.key ?? latest
        current = nil
        return latest
    }

    mutating func end(_ key: KeyURI) {
        if current?.key == key { current = nil }
    }

    /// - Returns: the number of the current turn, unless somebody watches it.
    mutating func watch() -> Int? {
        guard let current, current.number > watched else { return nil }
        watched = current.number
        return watched
    }

    mutating func passOver(_ number: Int) {
        guard let turn = current, turn.number == number else { return }
        overdue = overdue.suffix(Self.overdueLimit - 1) + [turn]
        current = nil
    }
}

extension ContentKeyError {
    fileprivate static let keyUnnamed = ContentKeyError(
        .keyUnnamed, stage: .spc, "JW Player made an SPC and had asked for no key.",
        remedy: "Use one data source for each player.")
}
