import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// The key requests of a loader, from the player's call to the release of the key.
///
/// Guards the table with a lock, and runs the effects of each event after the lock is released, so that a player may call back immediately.
/// All renewals wait on one alarm.
final class KeyRequests: Sendable {
    /// The values that a loader gives its requests.
    struct Context: Sendable {
        var leases = LeasePolicy()
        var vendor = RenewalPolicy()
        /// How long a player may take to renew a key when it is asked to.
        var patience = RetryPolicy().deadline
        /// How long a final refusal is remembered.
        var refusalMemory = RetryPolicy().refusalMemory
        /// Whether answered keys are held.
        var holdsKeys = true
        let timekeeper: any Timekeeper
        var generator: @Sendable () -> any RandomNumberGenerator = { SystemRandomNumberGenerator() }
        let trace: @Sendable (_ number: Int, KeyURI, AssetID?) -> Trace
    }

    private struct State {
        var table: KeyRequestTable
        /// The time that the alarm is set to.
        var alarm: Duration?
        var sourceEnded: (@Sendable (PlayerID) -> Void)?
    }

    let refusals: RefusalMemory
    private let context: Context
    private let alarm: Alarm
    private let state: Locked<State>

    init(_ context: Context) {
        self.context = context
        refusals = RefusalMemory(context.timekeeper, lifetime: context.refusalMemory)
        alarm = Alarm(context.timekeeper)
        state = Locked(
            State(
                table: KeyRequestTable(
                    context.leases, patience: context.patience, holdsKeys: context.holdsKeys)))
    }

    /// A request that is still pending was dropped: no code works on it any more.
    deinit { close(.dropped) }

    /// The states of the requests that have not ended.
    var states: [KeyRequestState] { state.withLock { $0.table.records.values.map(\.state) } }

    /// Whether the loader keeps any key alive.
    var holdsKeys: Bool { state.withLock { !$0.table.holders.isEmpty } }

    /// The keys that are kept alive for a player.
    func heldKeys(of player: PlayerID) -> Set<KeyURI> {
        state.withLock { Set($0.table.holders.keys.filter { $0.player == player }.map(\.uri)) }
    }

    /// The state of a request.
    func state(of request: KeyRequest) -> KeyRequestState { state.withLock { $0.table[request.number] } }

    /// The number of the source that a player plays; 0 for none, `nil` once the requests are closed.
    func source(of player: PlayerID) -> Int? { state.withLock { $0.table.source(of: player) } }

    /// Begins a player's source, unless it has begun; `false` if the request with the given number is no longer pending.
    func beginSource(of player: PlayerID, for number: Int) -> Bool {
        state.withLock { $0.table.beginSource(of: player, for: number) }
    }

    /// Whether a player's renewals are suspended.
    func isSuspended(_ player: PlayerID) -> Bool { state.withLock { $0.table.suspended.contains(player) } }

    /// Whether a player holds a key that will be renewed.
    func renews(_ key: KeyRequest.Key) -> Bool { state.withLock { $0.table.renews(key) } }

    /// Whether a player holds keys and none of their leases has ended.
    func holdsLiveKeys(_ player: PlayerID) -> Bool {
        let now = context.timekeeper.uptime
        return state.withLock { $0.table.holdsLiveKeys(player, at: now) }
    }

    /// The latest request of a key; `nil` if neither the player nor the app requested it.
    func request(of key: KeyRequest.Key) -> KeyRequest? { state.withLock { $0.table.request(of: key) } }

    /// Sets the closure that is called when a player has no request left, or was released.
    func whenSourceEnds(_ call: @escaping @Sendable (PlayerID) -> Void) { state.withLock { $0.sourceEnded = call } }

    /// When a license would be renewed, counted from now; `nil` if never.
    func renewal(after license: License) -> Duration? { plan(license)?.delay }

    /// When a key is renewed by its license; `nil` if never.
    func plan(_ license: License) -> RenewalPlan? {
        var generator = SomeGenerator(context.generator())
        return context.leases.plan(license.terms, context.vendor, using: &generator)
    }

}

// MARK: - Events

extension KeyRequests {
    /// Takes a player's request. Once the requests are closed it is answered with `cancelled`.
    func add(_ playerRequest: some PlayerKeyRequest) -> KeyRequest {
        let key = KeyRequest.Key(player: playerRequest.player, uri: playerRequest.keyURI)
        let purpose = playerRequest.purpose
        let registration = state.withLock { $0.table.register(key, purpose) }
        let trace = context.trace(registration.number, key.uri, playerRequest.asset ?? registration.renewed)
        let request = KeyRequest(registration, key, purpose, playerRequest, trace) { [weak self] request, ending in
            self?.end(request, ending)
        }
        perform { $0.add(request) }
        return request
    }

    /// Finishes a request whose work has ended.
    /// - Returns: whether the outcome was the request's answer; `false` if it was answered before.
    @discardableResult
    func finish(_ request: KeyRequest, _ outcome: KeyRequestTable.Outcome) -> Bool {
        var isAnswer = false
        performNow {
            isAnswer = $0[request.number] == .pending
            return $0.finish(request, outcome, at: $1, using: &$2)
        }
        return isAnswer
    }

    private func end(_ request: KeyRequest, _ ending: KeyRequest.Ending) {
        if ending == .release {
            let released = RefusalMemory.Question(request.playerRequest, of: request.asset)
            refusals.forget { $0 == released }
        }
        perform { $0.end(request, ending) }
    }

    /// Renews no key of a player until it is resumed.
    func suspend(_ player: PlayerID) {
        perform {
            $0.suspend(player)
            return []
        }
    }

    /// Renews a player's keys again; an overdue renewal is made once.
    func resume(_ player: PlayerID) {
        perform {
            $0.resume(player)
            return []
        }
    }

    /// Releases a player: its pending requests end with `cancelled`, and its keys are not renewed.
    func release(_ player: PlayerID) {
        refusals.forget { $0.player == player }
        perform { $0.release(player) }
    }

    /// Asks a player to renew its keys that lapsed.
    /// - Returns: the keys that it can renew.
    func renewLapsed(of player: PlayerID) -> Set<KeyURI> {
        refusals.forget { $0.player == player }
        let lapsed = state.withLock { $0.table.takeLapsed(of: player) }
        return Set(
            lapsed.filter { request in
                if request.playerRequest.renew() { return true }
                state.withLock { $0.table.cannotReturn(request) }
                return false
            }.map(\.key.uri))
    }

    /// Asks a player to renew all its keys.
    /// - Returns: whether it can renew any.
    func renewAll(_ player: PlayerID) -> Bool { performNow { $0.renewAll(player, at: $1, using: &$2) } }

    /// Ends a player's held keys with an error, because their session failed.
    func endKeys(_ player: PlayerID, _ error: ContentKeyError) { perform { $0.endKeys(player, error) } }

    /// Answers all pending requests with an error before it returns, and releases all keys.
    func close(_ error: ContentKeyError) { perform { $0.close(error) } }

    private func ring() {
        state.withLock { $0.alarm = nil }
        performNow { $0.ring(at: $1, using: &$2) }
    }
}

// MARK: - Transitions and their effects

extension KeyRequests {
    private typealias Transition = (inout KeyRequestTable) -> [KeyRequestTable.Effect]
    private typealias TimedTransition = (inout KeyRequestTable, Duration, inout SomeGenerator) -> [KeyRequestTable
        .Effect]

    @discardableResult
    private func perform(_ transition: Transition) -> Bool {
        run(
            state.withLock { state in
                defer { setAlarm(&state) }
                return transition(&state.table)
            })
    }

    /// - Returns: whether a player was asked to renew a key, and can.
    @discardableResult
    private func performNow(_ transition: TimedTransition) -> Bool {
        let now = context.timekeeper.uptime
        var generator = SomeGenerator(context.generator())
        return perform { transition(&$0, now, &generator) }
    }

    /// Sets the alarm to the table's time.
    private func setAlarm(_ state: inout State) {
        guard state.table.alarm != state.alarm else { return }
        state.alarm = state.table.alarm
        guard let due = state.alarm else { return alarm.clear() }
        alarm.set(at: due) { [weak self] in self?.ring() }
    }

    private func run(_ effects: [KeyRequestTable.Effect]) -> Bool {
        var renews = false
        for effect in effects {
            switch effect {
            case .answer(let request, let result): request.playerRequest.answer(result.map(\.revealed))
            case .systemHoldsKey(let request): request.playerRequest.systemHoldsKey()
            case .stopWork(let request): request.stopWork()
            case .send(let request, let event): request.trace.send(event)
            case .planRenewal(let request, let delay):
                request.playerRequest.renewalPlanned(at: context.timekeeper.date.addingTimeInterval(delay.inSeconds))
            case .renew(let request): renews = renew(request) || renews
            case .review(let request):
                // The newest keys are renewed, so that a player that is asked can renew one.
                renews = true
                review(request)
            case .lapse(let request): request.playerRequest.lapsed()
            case .end(let request, let error): request.playerRequest.ended(error)
            case .endSource(let player): state.withLock { $0.sourceEnded }?(player)
            }
        }
        return renews
    }

    private func review(_ request: KeyRequest) {
        startTask { [weak self] in
            let named = await request.playerRequest.keysInPlaylists()
            self?.performNow { table, now, _ in table.reviewed(request, named, at: now) }
        }
    }

    private func renew(_ request: KeyRequest) -> Bool {
        request.trace.send(.renewalDue)
        if request.playerRequest.renew() { return true }
        perform { $0.cannotRenew(request) }
        return false
    }
}

extension ContentKeyError {
    static let dropped = ContentKeyError(
        .dropped, "The key request was dropped.", remedy: "Report this as a bug in Latchkey.")
}
