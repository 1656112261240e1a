import Foundation
import LatchkeyForms
import LatchkeyServer
import Testing

@testable import LatchkeyServerTool
@testable import TestServers

/// The reports of everything that watches a server's engines, in the words of the table of `Documentation/Server/Outages.md`.
struct Watched: Equatable, CustomStringConvertible {
    /// The kinds of work at which `latchkey_store_outage` is 1, and `latchkey_store_behind` if it is.
    var gauges: [String] = []
    var readiness = "`ready`"
    /// The console's rows of unavailable engines, and its notices of anything else.
    var console: [String] = []
    /// The shipped alerts whose expressions are true.
    var alerts: [String] = []

    static let well = Watched()

    var cells: [String] {
        [gauges, [readiness], console, alerts].map { $0.isEmpty ? "–" : $0.joined(separator: ", ") }
    }
    var description: String { cells.joined(separator: " | ") }

    init() {}

    /// Asks a server.
    init(_ node: TestServer) async throws {
        let (_, word) = try await node.ready()
        let checks = try await node.operators("readyz?verbose").list("checks")
        let failed = checks.filter { $0["status"]?.text != "passed" }.compactMap { $0["name"]?.text }.map { "`\($0)`" }
        readiness = failed.isEmpty ? "`\(word)`" : "`\(word)`: \(failed.joined(separator: ", "))"
        let metrics = Metrics(try await node.operators("metrics").text)
        for (labels, value) in metrics.series("latchkey_store_outage") where value == 1 {
            gauges.append("`\(labels["store"] ?? "")` \(labels["operation"] ?? "")")
        }
        if metrics.series("latchkey_store_behind").contains(where: { $0.value == 1 }) {
            gauges.append("`latchkey_store_behind`")
        }
        for (labels, value) in metrics.series("latchkey_region_outage") where value == 1 {
            gauges.append("`latchkey_region_outage` \(labels["region"] ?? "")")
        }
        let overview = try await node.admin("overview")
        for engine in overview.list("engines") where engine["state"]?.text == "away" {
            console.append("`\(engine["name"]?.text ?? "")` \(engine["trouble"]?.text ?? "")")
        }
        // Each engine has one, too.
        let words = ["The database is older", "The stored sessions", "The node's copy", "The record's spool"]
        let notices = (overview.json["notices"]?.texts ?? []).filter { one in words.contains { one.hasPrefix($0) } }
        console += notices.map { $0.prefix { !":,.".contains($0) } + "" }
        let stores = [
            "The key store", "The audit store", "The session store", "The used-token store", "The record's destination",
            "The OpenID provider",
        ]
        #expect(
            (overview.json["notices"]?.texts ?? []).count { one in stores.contains { one.hasPrefix($0) } }
                == console.count - notices.count)
        alerts = try Metrics.alerts.get().filter { $0.isTrue(of: metrics) }.map { "`\($0.name)`" }
    }
}

/// The figures of a server, and the alerts on figures other than rates.
struct Metrics {
    struct Alert {
        let name: String
        fileprivate let metric: String
        fileprivate let labels: [(name: String, isSame: Bool, value: String)]
        fileprivate let isAbove: Bool
        fileprivate let value: Double

        /// Whether its expression has a result. How long it must have one is Prometheus's.
        func isTrue(of metrics: Metrics) -> Bool {
            metrics.series(metric).contains { series in
                labels.allSatisfy { (series.labels[$0.name] == $0.value) == $0.isSame }
                    && (isAbove ? series.value > value : series.value == value)
            }
        }
    }

    /// The shipped alerts of the form `max by (…) (METRIC{…}) == 1`.
    static let alerts = Result {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Deployment/prometheus/alerts.yml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let form =
            /- alert: (\w+)\n\s+expr: (?:max by \([^)]*\) \()?(latchkey_\w+)(?:\{([^}]*)\})?\)? (==|>) (\d+)\n/
        return text.matches(of: form).map { match in
            let labels = (match.3 ?? "").matches(of: /(\w+)(=|!=)"([^"]*)"/).map { label in
                (name: String(label.1), isSame: label.2 == "=", value: String(label.3))
            }
            return Alert(
                name: String(match.1), metric: String(match.2), labels: labels, isAbove: match.4 == ">",
                value: Double(match.5) ?? 0)
        }
    }

    /// By metric.
    private let lines: [Substring: [Substring]]

    init(_ text: String) {
        lines = Dictionary(grouping: text.split(separator: "\n")) { $0.prefix { $0 != "{" && $0 != " " } }
    }

    /// The series of a metric, by their labels.
    func series(_ metric: String) -> [(labels: [String: String], value: Double)] {
        // A literal is parsed where it is evaluated.
        let label = /(\w+)="([^"]*)"/
        return (lines[metric[...]] ?? []).map { line in
            let end = line.lastIndex(of: " ") ?? line.startIndex
            let labels = line[..<end].matches(of: label).map { (String($0.1), String($0.2)) }
            return (Dictionary(labels) { $1 }, Double(line[end...].dropFirst()) ?? .nan)
        }
    }
}
