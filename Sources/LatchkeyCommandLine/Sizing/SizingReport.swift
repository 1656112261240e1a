import LatchkeyCore
import LatchkeyTerminal

/// The sizing table: some crowds side by side, and an operator's own.
struct SizingReport: Sendable, Encodable {
    let columns: [SizingResult]
    let costs: SizingCosts
    let bestCosts: SizingCosts?
    /// The maximum load of a core, 0 to 1.
    let fullness: Double
    let coresPerNode: Int

    /// Crowds for comparison.
    static let crowds = [1_000_000, 10_000_000]
    /// The heartbeat and kick-off intervals in the columns that serve for comparison.
    static let (heartbeat, kickOff) = (Duration.seconds(30), Duration.seconds(60))

    /// - Parameters:
    ///   - plan: the operator's own; its costs and maximum load apply to all columns.
    ///   - isOwn: whether it is one of the columns.
    ///   - crowds: the numbers of viewers in the other columns.
    init(_ plan: SizingPlan, isOwn: Bool, crowds: [Int] = Self.crowds) {
        own = isOwn ? SizingResult("yours, \(Self.shown(plan.viewers))", plan) : nil
        var columns = [own].compactMap(\.self)
        for viewers in crowds {
            var common = SizingPlan()
            (common.viewers, common.liveKeys, common.coresPerNode) = (viewers, plan.liveKeys, plan.coresPerNode)
            (common.costs, common.bestCosts) = (plan.costs, plan.bestCosts)
            (common.fullness, common.seed) = (plan.fullness, plan.seed)
            let name = Self.shown(viewers)
            columns.append(SizingResult("\(name), leases", common))
            common.heartbeat = Self.heartbeat
            columns.append(SizingResult("\(name), heartbeats", common))
            common.kickOff = Self.kickOff
            columns.append(SizingResult("\(name), kick-off", common))
        }
        self.columns = columns
        (costs, bestCosts, fullness, coresPerNode) = (plan.costs, plan.bestCosts, plan.fullness, plan.coresPerNode)
    }

    /// The operator's own column, which is the first.
    let own: SizingResult?

    private enum CodingKeys: String, CodingKey { case columns, costs, bestCosts, fullness, coresPerNode }

    /// Whether the operator's resources suffice.
    var suffices: Bool { own?.suffices ?? true }

    /// The table's rows, each with its name and a cell for each column.
    var rows: [(name: String, cells: [String])] {
        let percent = "\(Int((fullness * 100).rounded())) %"
        func row(_ name: String, _ cell: (SizingResult) -> String) -> (name: String, cells: [String]) {
            (name, columns.map(cell))
        }
        return [
            row("licenses a second, at most") { Self.number($0.licensesAtMost) },
            row("heartbeats a second, at most") { $0.heartbeatsAtMost > 0 ? Self.number($0.heartbeatsAtMost) : "–" },
            row("cores of nodes needed, \(percent) full") { Self.range($0.nodes) },
            row("nodes of \(coresPerNode) cores needed") { "\($0.nodes.needed)" },
            row("Redis primaries needed, \(percent) full") {
                $0.primaries.needed == 0 ? "–" : "\(Self.range($0.primaries)): \($0.primaries.needed)"
            },
            row("looked at: nodes + primaries") { "\($0.nodes.count) + \($0.primaries.count)" },
            row("nodes full, at most") { Self.percent($0.nodes.fullest) },
            row("primaries full, at most") { $0.primaries.count == 0 ? "–" : Self.percent($0.primaries.fullest) },
            row("first bottleneck") { $0.bottleneck.rawValue },
            row("carries viewers, \(percent) full") { Self.number(Double($0.carries)) },
            row("license p50; p99; max ms") {
                [$0.latency.p50, $0.latency.p99, $0.latency.max].map(Self.number).joined(separator: "; ")
            },
            row("refusals with 503") { Self.number(Double($0.refused)) },
            row("license requests given up") { Self.number(Double($0.givenUp)) },
            row("licenses refused for a late Redis") { Self.number(Double($0.refusedByStore)) },
            row("Redis memory, all primaries") { $0.redisBytes > 0 ? Self.bytes($0.redisBytes) : "–" },
            row("PostgreSQL connections, the record's too") { Self.number(Double($0.postgreSQLConnections)) },
            row("rows of keys read again a second") { Self.number($0.keyReads) },
            row("record a day") { Self.bytes($0.recordBytesPerDay) },
            row("log a second, at most") { Self.bytes($0.logBytesPerSecond) },
        ]
    }

    /// The report for people.
    var text: String {
        var lines = [TextTable(rows: [[""] + columns.map(\.name)] + rows.map { [$0.name] + $0.cells }).text, ""]
        lines.append(remark)
        if let verdict { lines.append(verdict) }
        return lines.joined(separator: "\n")
    }

    /// The origin of the figures.
    var remark: String {
        func words(_ costs: SizingCosts) -> String {
            "a license costs a node \(Self.number(costs.license)) µs and a primary \(Self.number(costs.redisLicense)) µs, a heartbeat "
                + "\(Self.number(costs.heartbeat)) and \(Self.number(costs.redisHeartbeat))"
        }
        guard let bestCosts else { return "Here \(words(costs))." }
        return
            "On a core at most half full \(words(costs)): all figures are for these. On a core for the server alone, 800 licenses a second, "
            + "\(words(bestCosts)): the figures behind “to”. Measure yours: Scripts/measure-sizing."
    }

    /// The result for the operator's own resources.
    var verdict: String? {
        guard let own else { return nil }
        let has = "\(own.nodes.count) nodes and \(own.primaries.count) primaries"
        guard !own.suffices else {
            return
                "\(has) suffice for \(Self.number(Double(own.viewers))) viewers; the first bottleneck is \(own.bottleneck.rawValue), "
                + "at \(Self.number(Double(own.carries)))."
        }
        return
            "\(has) do not suffice for \(Self.number(Double(own.viewers))) viewers: they carry \(Self.number(Double(own.carries))), "
            + "and the first bottleneck is \(own.bottleneck.rawValue). \(own.nodes.needed) nodes and \(own.primaries.needed) primaries are needed."
    }
}

extension SizingReport {
    static func shown(_ viewers: Int) -> String {
        viewers >= 1_000_000 ? "\(number(Double(viewers) / 1e6)) M" : number(Double(viewers))
    }

    static func percent(_ part: Double) -> String { "\(Int(saturating: (part * 100).rounded())) %" }

    /// A range from the need at the plan's costs to the need at the best costs.
    private static func range(_ part: SizingResult.Part) -> String {
        number(part.exactlyNeeded) + (part.exactlyNeededAtBest.map { " to \(number($0))" } ?? "")
    }

    /// With commas from a thousand on, and decimals below ten.
    static func number(_ value: Double) -> String {
        let whole = Int(saturating: value.rounded())
        guard value.magnitude < 1_000 else {
            let digits = Array(String(whole))
            return digits.indices.reduce(into: "") { text, index in
                if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
                text.append(digits[index])
            }
        }
        let tenths = Int(saturating: (value * 10).rounded())
        if value.magnitude < 10, value > 0, tenths == 0 {
            return "\(Double(Int(saturating: (value * 100).rounded())) / 100)"
        }
        return value.magnitude < 100 && !tenths.isMultiple(of: 10) ? "\(Double(tenths) / 10)" : "\(whole)"
    }

    static func bytes(_ count: Double) -> String {
        let units: [(Double, String)] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
        let unit = units.first { count >= $0.0 } ?? (1, "B")
        return "\(number(count / unit.0)) \(unit.1)"
    }
}
