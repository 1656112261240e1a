public import Foundation
public import Latchkey
import LatchkeyCore

/// Everything that happened to a stream's keys, as a page to look at or a file for another tool. Holds no secret.
///
///     var trace = KeyTrace()
///     for await event in loader.events() { trace.add(event) }
///     try trace.data(as: .html).write(to: file)
///
/// A value: collect the events of one playback, and write it after a failure or on request. Keeps the latest 10,000 events.
public struct KeyTrace: Sendable {
    /// The file formats of a trace.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// A page for people that needs no network: problems first, leases, a waterfall for each key, and a table of all steps.
        case html
        /// OpenTelemetry's OTLP in JSON, for a collector or a viewer of traces.
        case openTelemetry = "json"
        /// HTTP Archive 1.2, for tools that read browsers' traffic; it has only the requests.
        case har
    }

    /// An event, and its loader if several are in one trace.
    struct Entry: Sendable {
        let owner: String
        let event: KeyEvent
    }

    /// The maximum number of events, of spans and of problems.
    private static let limit = 10_000

    private var events = BoundedQueue<Entry>(limit: Self.limit)
    private var spans = BoundedQueue<TraceSpan>(limit: Self.limit)
    private var problems = BoundedQueue<TraceProblem>(limit: 100)
    /// The source of identifiers if the events have none.
    private let seed: UInt64

    /// A trace without events.
    public init() { self.init(seed: .random(in: 0 ... .max)) }

    /// - Parameter seed: the source of identifiers if the events have none.
    package init(seed: UInt64) { self.seed = seed }

    /// Adds an event. Events are ordered by their times.
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
    /// - Parameter owner: the loader's name, such as a vendor's.
    package mutating func add(_ event: KeyEvent, of owner: String) { events.append(Entry(owner: owner, event: event)) }

    /// Adds a step that no loader reports, such as decoding.
    package mutating func add(_ span: TraceSpan) { spans.append(span) }

    /// Adds a problem that no event reports. The first one added is the first on the page.
    package mutating func add(_ problem: TraceProblem) { problems.append(problem) }

    /// The part of the trace that belongs to one loader among several; without the problems that no event reports.
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

    /// The exchanges, in the order of their starts.
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

    /// The problems: added ones first, then the errors of events; each code once per stage.
    var allProblems: [TraceProblem] {
        let failed = events.elements.compactMap { TraceProblem($0.event.kind, about: $0.event.keyText) }
        var seen: Set<[String]> = []
        return (problems.elements + failed).filter { seen.insert([$0.stage, $0.code]).inserted }
    }

    /// The leases of the keys, in order.
    var leases: [TraceLease] {
        events.elements.compactMap { TraceLease($0.event) }.sorted { $0.start < $1.start }
    }
}
