import Latchkey
import LatchkeyCore
import LatchkeyTesting

/// What a loader was asked for, from now on.
final class PurposeLog: Sendable {
    private struct State {
        var purposes: [KeyPurpose] = []
        var watchers: [(purpose: KeyPurpose, times: Int, continuation: CheckedContinuation<Void, Never>)] = []

        func count(_ purpose: KeyPurpose) -> Int { purposes.count { $0 == purpose } }
    }

    private let state = Locked(State())

    init(_ loader: ContentKeyLoader) {
        let events = loader.events()
        Task { [weak self] in
            for await event in events {
                if case .requested(let purpose) = event.kind { self?.add(purpose) }
            }
        }
    }

    /// Waits until keys were asked for so often for a purpose.
    func until(_ purpose: KeyPurpose, times: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let isThere = state.count(purpose) >= times
                if !isThere { state.watchers.append((purpose, times, continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }

    private func add(_ purpose: KeyPurpose) {
        let met = state.withLock { state in
            state.purposes.append(purpose)
            let isMet = {
                [state] (watcher: (purpose: KeyPurpose, times: Int, continuation: CheckedContinuation<Void, Never>)) in
                state.count(watcher.purpose) >= watcher.times
            }
            let met = state.watchers.filter(isMet).map(\.continuation)
            state.watchers.removeAll(where: isMet)
            return met
        }
        for continuation in met { continuation.resume() }
    }
}

extension PlayerStage {
    /// Lets time pass in steps, as somebody waits for it, until something has happened.
    func passTime(until hasHappened: () -> Bool) async {
        while !hasHappened() {
            await time.untilSomeoneSleeps()
            time.advance(by: .seconds(10))
            await Task.yield()
        }
    }
}
