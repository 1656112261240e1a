import Foundation
import Testing

@testable import TestServers

/// The table of `Documentation/Server/Outages.md` with each watcher's report of a mishap.
struct MishapPage {
    struct Row {
        /// The findings of `--check`, by place; empty if it finds nothing.
        private let check: [String]
        /// Gauges, readiness, console, alerts.
        let watched: [String]
        /// The causes that log, readiness and console report; empty if they are silent.
        private let causes: [String]
        /// Whether the log reports it.
        let isLogged: Bool

        fileprivate init?(_ cells: [String]) {
            guard cells.count == 8 else { return nil }
            check = Self.parts(cells[2])
            watched = Array(cells[3...6])
            isLogged = !cells[7].hasPrefix(Self.unlogged)
            causes = Self.parts(isLogged ? cells[7] : String(cells[7].dropFirst(Self.unlogged.count)))
        }

        private static let unlogged = "not in the log: "

        private static func parts(_ cell: String) -> [String] {
            ["–", "right"].contains(cell) ? [] : cell.split(separator: "<br>").map(String.init)
        }

        /// Whether a check says this, and nothing else. Ports and numbers of entries, which come last, are the test's own.
        func agrees(check told: [String]) -> Bool {
            let told = told.map { $0.replacing(/redis:\/\/127\.0\.0\.1:\d+/, with: "redis://HOST") }
            return told.count == check.count && zip(told, check).allSatisfy { $0.hasPrefix($1) }
        }

        /// Whether the log has an entry for each outage, and each has one of the causes.
        func agrees(log lines: [String]) -> Bool {
            let outages = lines.filter { $0.contains(#""level":"error""#) }
            return outages.isEmpty == (causes.isEmpty || !isLogged)
                && outages.allSatisfy { line in causes.contains { line.contains($0) } }
        }

        /// Whether readiness reports one of the causes for the failure.
        func agrees(readiness reply: HTTPReply) -> Bool {
            reply.list("checks").compactMap { $0["reason"]?.text }
                .allSatisfy { reason in causes.contains { reason.contains($0) } }
        }
    }

    /// The rows, by `ENGINE: MISHAP`.
    static var rows: [String: Row] {
        get throws {
            let page = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../Documentation/Server/Outages.md")
            let text = try String(contentsOf: page, encoding: .utf8)
            let cells = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
                line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            }
            let engines = Set((Mishap.all + Mishap.others).map { $0.engine })
            let pairs = cells.filter { engines.contains($0[0]) }.compactMap { cells in
                Row(cells).map { ("\(cells[0]): \(cells[1])", $0) }
            }
            return Dictionary(pairs) { one, _ in one }
        }
    }
}
