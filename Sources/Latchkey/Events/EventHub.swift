import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// Sends events to the streams that listen, and counts them.
final class EventHub: Sendable {
    private struct Listeners {
        var next = 0
        var continuations: [Int: AsyncStream<KeyEvent>.Continuation] = [:]
        /// The events before the first listener, as the certificate's fetch begins with the loader; `nil` afterwards.
        var early: [KeyEvent]? = []
    }

    /// The maximum number of events that wait for a slow listener; the oldest are dropped.
    private static let buffer = 1_024
    /// The maximum number of earlier events that the first listener gets.
    private static let earlyLimit = 64
    /// The number of titles and keys together that are counted separately.
    private static let subjectLimit = 256

    private let timekeeper: any Timekeeper
    private let redaction: Redaction
    private let observer: (@Sendable (KeyEvent) -> Void)?
    /// Makes the identifiers of traces; `nil` if requests carry none.
    private let identifiers: TraceIdentifiers?
    private let record: (any LoaderRecord)?
    private let listeners = Locked(Listeners())
    private let counted = Locked(Counts())

    /// The total counts, and those of each of the latest titles and keys.
    private struct Counts {
        enum Subject: Hashable { case asset(AssetID), key(String) }

        var all = KeyStatistics()
        var single = BoundedDictionary<Subject, KeyStatistics>(limit: EventHub.subjectLimit)

        mutating func count(_ event: KeyEvent) {
            all.count(event)
            let subjects = [event.asset.map(Subject.asset), event.keyText.isEmpty ? nil : .key(event.keyText)]
            for subject in subjects.compactMap({ $0 }) {
                single.change(subject, startingWith: KeyStatistics()) { $0.count(event) }
            }
        }
    }

    init(_ caller: ServiceCaller) {
        timekeeper = caller.timekeeper
        redaction = caller.integration.redaction
        observer = caller.configuration.observer
        var generator = SomeGenerator(caller.generator())
        record = caller.record
        identifiers =
            caller.configuration.tracing == .traceparent
            ? TraceIdentifiers(seed: .random(in: 0 ... .max, using: &generator)) : nil
    }

    /// The counts since the loader was made.
    var statistics: KeyStatistics { counted.withLock { $0.all } }

    /// A title's counts; empty if it is not among the latest ones.
    func statistics(of asset: AssetID) -> KeyStatistics {
        counted.withLock { $0.single[.asset(asset)] } ?? KeyStatistics()
    }

    /// A key's counts; empty if it is not among the latest ones.
    func statistics(of key: KeyURI) -> KeyStatistics {
        counted.withLock { $0.single[.key(shown(key))] } ?? KeyStatistics()
    }

    deinit { for continuation in listeners.withLock({ $0.continuations }).values { continuation.finish() } }

    func stream() -> AsyncStream<KeyEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: KeyEvent.self, bufferingPolicy: .bufferingNewest(Self.buffer))
        let id = listeners.withLock { listeners in
            for event in listeners.early ?? [] { continuation.yield(event) }
            listeners.early = nil
            listeners.next += 1
            listeners.continuations[listeners.next] = continuation
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    /// A trace that sends its events here.
    /// - Parameters:
    ///   - number: the number of the key request; 0 for none.
    ///   - key: the key; shown without secrets.
    ///   - asset: the title of the key.
    ///   - then: sees each event after the listeners.
    func trace(
        _ number: Int = 0, _ key: KeyURI? = nil, of asset: AssetID? = nil, then: @escaping Trace.Sink = { _ in }
    ) -> Trace {
        let shown = key.map(shown) ?? ""
        return Trace(number, of: asset, timekeeper, identifiers: identifiers?.trace()) { [self] kind in
            send(KeyEvent(exchange: number, key: shown, asset: asset, date: timekeeper.date, kind: kind))
            then(kind)
        }
    }

    private func shown(_ key: KeyURI) -> String { redaction.redacted(urlText: key.raw) }

    private func send(_ event: KeyEvent) {
        counted.withLock { $0.count(event) }
        record?.note(event)
        observer?(event)
        let continuations = listeners.withLock { listeners in
            if let early = listeners.early { listeners.early = early.suffix(Self.earlyLimit - 1) + [event] }
            return Array(listeners.continuations.values)
        }
        for continuation in continuations { continuation.yield(event) }
    }
}
