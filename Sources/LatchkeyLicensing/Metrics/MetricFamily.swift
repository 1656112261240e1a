import LatchkeyCore

/// A label of a metric, and its allowed values. Every other value is written as `other`, so that a stranger cannot fill the memory.
package struct MetricLabel: Sendable, Hashable {
    /// The allowed values.
    package enum Values: Sendable, Hashable {
        /// These.
        case fixed(Set<String>)
        /// The first ones that come, up to a number.
        case first(Int)
    }

    package let name: String
    package let values: Values

    static func fixed(_ name: String, _ values: some Sequence<String>) -> Self {
        Self(name: name, values: .fixed(Set(values)))
    }

    static func first(_ count: Int, _ name: String) -> Self { Self(name: name, values: .first(count)) }
}

/// The parts of a metric's text.
package protocol AnyMetricFamily: Sendable {
    /// The metric's name; of a counter with `_total`.
    var name: String { get }
    var help: String { get }
    /// `counter`, `gauge` or `histogram`.
    var type: String { get }
    var labels: [MetricLabel] { get }
    /// The values of the labels and the lines of each series, in the order of the labels' values.
    var series: [(values: [String], lines: [MetricLine])] { get }
}

/// A metric: its values by the values of its labels.
package final class MetricFamily<Cell: MetricCell>: AnyMetricFamily {
    fileprivate struct State {
        var cells: [[String]: Cell] = [:]
        /// The values that each label has had.
        var known: [Set<String>]
    }

    package let name: String
    package let help: String
    package let labels: [MetricLabel]
    private let limit: Int
    private let make: @Sendable () -> Cell
    private let state: Locked<State>

    package var type: String { Cell.type }

    /// - Parameters:
    ///   - name: the metric's name; of a counter with `_total`.
    ///   - help: one sentence.
    ///   - labels: the labels in order.
    ///   - limit: how many series there may be; all beyond are one, whose labels are all `other`.
    ///   - make: makes a cell.
    init(
        _ name: String, _ help: String, _ labels: [MetricLabel] = [], limit: Int = 1_000,
        make: @escaping @Sendable () -> Cell
    ) {
        self.name = name
        self.help = help
        self.labels = labels
        self.limit = limit
        self.make = make
        state = Locked(State(known: Array(repeating: [], count: labels.count)))
    }

    /// The cell of label values, in the labels' order. Keep it to avoid the search.
    /// - Complexity: one lock and one hash of the values.
    package subscript(_ values: String...) -> Cell { cell(values) }

    func cell(_ values: [String]) -> Cell { state.withLock { cell(values, &$0) } }

    private func cell(_ values: [String], _ state: inout State) -> Cell {
        if let cell = state.cells[values] { return cell }
        var bounded = state.bounded(values, by: labels)
        if let cell = state.cells[bounded] { return cell }
        if state.cells.count >= limit {
            bounded = labels.map { _ in MetricText.other }
            if let cell = state.cells[bounded] { return cell }
        }
        let cell = make()
        state.cells[bounded] = cell
        return cell
    }

    package var series: [(values: [String], lines: [MetricLine])] {
        let cells = state.withLock { $0.cells }
        return cells.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value.lines) }
    }
}

extension MetricFamily<Counter> {
    /// Makes all series at 0 if all labels have fixed values: a rate does not count the events before a series' first reading.
    func makeFixedSeries() {
        var series: [[String]] = [[]]
        for label in labels {
            guard case .fixed(let values) = label.values else { return }
            series = series.flatMap { start in values.map { start + [$0] } }
        }
        for values in series { _ = cell(values) }
    }
}

extension MetricFamily<Gauge> {
    /// Replaces all series together and drops the others: the contents of a configuration, for example.
    /// - Parameter values: the value of each set of label values.
    package func replaceAll(_ values: [(labels: [String], value: Double)]) {
        state.withLock { state in
            state = State(known: Array(repeating: [], count: labels.count))
            for (values, value) in values { cell(values, &state).set(value) }
        }
    }
}

extension MetricFamily.State {
    /// The label values, replaced where the label does not allow them. Missing ones are empty.
    fileprivate mutating func bounded(_ values: [String], by labels: [MetricLabel]) -> [String] {
        labels.indices.map { index in
            let value = values.indices.contains(index) ? values[index] : ""
            switch labels[index].values {
            case .fixed(let allowed): return allowed.contains(value) ? value : MetricText.other
            case .first(let count):
                if known[index].contains(value) { return value }
                guard known[index].count < count, value.utf8.count <= 128 else { return MetricText.other }
                known[index].insert(value)
                return value
            }
        }
    }
}
