public import Foundation
public import Latchkey
import LatchkeyCore

/// Everything that happened to a stream's keys, as a page to look at or a file for another tool. Holds no secret.
///
///     var trace = KeyTrace()
///     for await event in loader.events() { trace.add(event) }
///     try trace.data(as: .html).write(to: file)
///
/// A value: collect the events of one playback, and write it when something went wrong or somebody asks. Keeps the latest 10,000 events.
public struct KeyTrace: Sendable {
    /// Files that a trace can become.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// A page for people that needs no network: problems first, leases, a waterfall for each key, and a table of all steps.
        case html
        /// OpenTelemetry's OTLP in JSON, for a collector or a viewer of traces.
        case openTelemetry = "json"
        /// HTTP Archive 1.2, for what reads the traffic of browsers; it has the requests alone.
        case har
    }

    /// An event, and whose it is where several loaders are in one trace.
    struct Entry: Sendable {
        let owner: String
        let event: KeyEvent
    }

    /// How many events, spans and problems are kept of each.
    private static let limit = 10_000

    private var events = BoundedQueue<Entry>(limit: Self.limit)
    private var spans = BoundedQueue<TraceSpan>(limit: Self.limit)
    private var problems = BoundedQueue<TraceProblem>(limit: 100)
    /// What identifiers are made from where the events have none.
    private let seed: UInt64

    /// A trace without events.
    public init() { self.init(seed: .random(in: 0 ... .max)) }

    /// - Parameter seed: what identifiers are made from where the events have none.
    package init(seed: UInt64) { self.seed = seed }

    /// Adds an event. The order of events is that of their times.
    public mutating func add(_ event: KeyEvent) { add(event, of: "") }

    /// The trace as a file.
    public func data(as format: Format) -> Data {
        switch format {
        case .html: Data(TracePage(self).page.utf8)
        case .openTelemetry: openTelemetry
        case .har: archive
        }
    }
}

extension KeyTrace {
    /// Adds an event of one loader among several.
    /// - Parameter owner: what the loader is called, such as a vendor's name.
    package mutating func add(_ event: KeyEvent, of owner: String) { events.append(Entry(owner: owner, event: event)) }

    /// Adds a step that no loader tells of, such as decoding.
    package mutating func add(_ span: TraceSpan) { spans.append(span) }

    /// Adds a problem that no event tells of. The first that was added is the first on the page.
    package mutating func add(_ problem: TraceProblem) { problems.append(problem) }

    /// The part of the trace that belongs to one loader among several; it has no problem that no event tells of.
    package func part(of owner: String) -> KeyTrace {
        var part = KeyTrace(seed: seed)
        for entry in events.elements where entry.owner == owner { part.add(entry.event) }
        for span in spans.elements where span.owner == owner {
            var span = span
            span.owner = ""
            part.add(span)
        }
        return part
    }

    /// The exchanges, in the order in which they began.
    var exchanges: [TraceExchange] {
        var builders: [TraceExchange.Identity: TraceExchange.Builder] = [:]
        for entry in events.elements.sorted(by: { $0.event.date < $1.event.date }) {
            let identity = TraceExchange.Identity(entry)
            builders[identity, default: TraceExchange.Builder(identity, seed: seed)].add(entry.event)
        }
        for span in spans.elements {
            let identity = TraceExchange.Identity(owner: TraceText.shown(span.owner), number: 0, key: "")
            builders[identity, default: TraceExchange.Builder(identity, seed: seed)].add(span)
        }
        return builders.values.map(\.exchange).filter { !$0.spans.isEmpty }.sorted {
            ($0.start, $0.identity.owner, $0.identity.number) < ($1.start, $1.identity.owner, $1.identity.number)
        }
    }

    /// What went wrong: what was added as a problem first, then the errors of events; each code once for a stage.
    var allProblems: [TraceProblem] {
        let failed = events.elements.compactMap { TraceProblem($0.event.kind, about: $0.event.keyText) }
        var seen: Set<[String]> = []
        return (problems.elements + failed).filter { seen.insert([$0.stage, $0.code]).inserted }
    }

    /// The leases that keys were given, in order.
    var leases: [TraceLease] {
        events.elements.compactMap { TraceLease($0.event) }.sorted { $0.start < $1.start }
    }
}
