import LatchkeyCore

/// Follows one exchange and sends its events: its request, its start, its current stage, and the number of attempts at the stage.
final class Trace: Sendable {
    typealias Sink = @Sendable (KeyEvent.Kind) -> Void

    fileprivate struct State {
        var endedStages: Set<ContentKeyError.Stage> = []
        /// The code of the last failed attempt.
        var failure: String?
        /// The attempts begun at the current stage.
        var attempts = 1
    }

    /// The stages of every key, in order.
    private static let stages: [ContentKeyError.Stage] = [.contentIdentifier, .certificate, .spc, .license]

    /// The number of the key request; 0 for an exchange that belongs to none.
    let number: Int
    /// The title of the key that the exchange is for; `nil` if it is not known, or if the exchange is for no key.
    let asset: AssetID?
    /// When the exchange began, by the timekeeper's uptime.
    let start: Duration
    /// Gives each request its `traceparent`; `nil` if requests carry none.
    let identifiers: TraceIdentifiers.Source?
    private let timekeeper: any Timekeeper
    private let sink: Sink
    private let state = Locked(State())

    /// - Parameters:
    ///   - number: the number of the key request; 0 for none.
    ///   - asset: the title of the key. Defaults to `nil`: not known.
    ///   - timekeeper: measures stages.
    ///   - identifiers: gives each request its `traceparent`. Defaults to none.
    ///   - sink: takes the events.
    init(
        _ number: Int = 0, of asset: AssetID? = nil, _ timekeeper: any Timekeeper,
        identifiers: TraceIdentifiers.Source? = nil,
        sink: @escaping Sink
    ) {
        self.number = number
        self.asset = asset
        self.identifiers = identifiers
        self.timekeeper = timekeeper
        self.sink = sink
        start = timekeeper.uptime
    }

    /// A part of the exchange with its own attempts; its events count for the whole, too.
    /// - Parameter observer: sees each event first.
    func part(observer: @escaping Sink = { _ in }) -> Trace {
        Trace(number, of: asset, timekeeper, identifiers: identifiers) { [self] event in
            observer(event)
            send(event)
        }
    }

    /// Sends an event.
    func send(_ event: KeyEvent.Kind) {
        state.withLock { $0.note(event) }
        sink(event)
    }

    /// Runs a stage, and sends its duration, whether it succeeded or failed.
    func stage<Value: Sendable>(
        _ stage: ContentKeyError.Stage, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let start = timekeeper.uptime
        defer { send(.stageEnded(stage, took: timekeeper.uptime - start)) }
        return try await body()
    }

    /// The current stage of a key: the first that has not ended.
    var stage: ContentKeyError.Stage {
        state.withLock { state in Self.stages.first { !state.endedStages.contains($0) } ?? .answer }
    }

    /// The error of an exchange that exceeded its deadline.
    /// - Parameter stage: the stage; defaults to the current stage of a key.
    func deadlineExceeded(_ deadline: Duration, at stage: ContentKeyError.Stage? = nil) -> ContentKeyError {
        let (attempts, failure) = state.withLock { ($0.attempts, $0.failure) }
        return .deadlineExceeded(deadline, stage: stage ?? self.stage, after: failure, attempts: attempts)
    }
}

extension Trace.State {
    fileprivate mutating func note(_ event: KeyEvent.Kind) {
        switch event {
        case .stageEnded(let stage, _):
            endedStages.insert(stage)
            // This stage ends during the fetch of the certificate, whose attempts continue.
            if stage != .contentIdentifier { (attempts, failure) = (1, nil) }
        case .retrying(_, _, let code):
            attempts += 1
            failure = code
        default: break
        }
    }
}
