import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeySystem
import LatchkeyTerminal

/// The options of `latchkey load --sizing`, in addition to those shared with other loads.
enum SizingOptions {
    static let sizing = Flag("sizing", "compute the nodes and Redis primaries for a crowd, on virtual time")
    private static let keysPerPlayback = Option(
        "keys-per-playback", .count, "with --sizing: keys that a playback asks for; defaults to 2")
    private static let lease = Option(
        "lease", .timeSpan, "with --sizing: how long a license holds; defaults to 5m; --policy says it, too")
    private static let heartbeat = Option(
        "heartbeat", .timeSpan, "with --sizing: how often players send heartbeats; defaults to never")
    private static let kickOff = Option(
        "kick-off", .timeSpan, "with --sizing: all playbacks begin within this time; otherwise they began long ago")
    private static let nodes = Option("nodes", .count, "with --sizing: the number of nodes to assess")
    private static let cores = Option("cores", .count, "with --sizing: a node's cores; defaults to 8")
    private static let primaries = Option(
        "primaries", .count, "with --sizing: the number of Redis primaries to assess")
    private static let full = Option(
        "full", .count, "with --sizing: how full a core may be, in percent; defaults to 70")
    private static let costs = Option(
        "costs", .path("FILE"), "with --sizing: the cost of a license and of a heartbeat; see Scripts/measure-sizing")

    static let all: [any Parameter] = [
        sizing, keysPerPlayback, lease, heartbeat, kickOff, nodes, cores, primaries, full, costs,
    ]

    /// The plan that the options state, and whether they include an operator's own column.
    /// - Throws: `UsageError`, `JSONProblems`, `FileError`.
    static func plan(
        _ arguments: Arguments, viewers: Int?, watching: Duration?, keys: Int?, retries: Int?, seed: UInt64,
        policy: LoadPolicy?,
        _ console: Console
    ) throws -> (plan: SizingPlan, isOwn: Bool) {
        var plan = SizingPlan()
        if let policy {
            guard arguments[lease] == nil, arguments[heartbeat] == nil else {
                throw UsageError("--policy states \(lease.name) and \(heartbeat.name), too: leave one out.")
            }
            plan.follow(policy.policy)
        }
        plan.lease = arguments[lease] ?? plan.lease
        plan.heartbeat = arguments[heartbeat] ?? plan.heartbeat
        plan.kickOff = arguments[kickOff]
        plan.watching = watching
        plan.seed = seed
        plan.viewers = try bounded(viewers ?? plan.viewers, "--viewers", 100_000_000)
        plan.keysPerPlayback = try bounded(arguments[keysPerPlayback] ?? plan.keysPerPlayback, keysPerPlayback.name, 64)
        plan.liveKeys = keys ?? plan.liveKeys
        plan.retries = try bounded(retries ?? plan.retries, "--retry", 10)
        plan.nodes = try arguments[nodes].map { try bounded($0, nodes.name, SizingPlan.mostStations) }
        plan.primaries = try arguments[primaries].map { try bounded($0, primaries.name, SizingPlan.mostStations) }
        plan.coresPerNode = try bounded(arguments[cores] ?? plan.coresPerNode, cores.name, 1_024)
        plan.fullness = Double(try bounded(arguments[full] ?? 70, full.name, 100)) / 100
        if let kickOff = plan.kickOff, kickOff > .seconds(3_600) {
            throw UsageError("\(Self.kickOff.name) needs a time of at most 1h: a kick-off is not longer.")
        }
        guard plan.asksSessions || plan.primaries == nil else {
            throw UsageError("\(primaries.name) has no effect here: --policy counts nothing and uses no Redis.")
        }
        if let path = arguments[costs] {
            let bytes = try InputFile.read(path, limit: 65_536, console)
            plan.bestCosts = nil
            plan.costs = try SizingCosts.form.decode(Array(bytes), code: "sizingCosts")
        }
        let own: [any Parameter] = [keysPerPlayback, lease, heartbeat, kickOff, nodes, primaries]
        let isOwn =
            viewers != nil || watching != nil || policy != nil || retries != nil
            || own.contains { arguments.values[$0.name] != nil }
        return (plan, isOwn)
    }

    /// - Throws: `UsageError` for an option that only sizing takes.
    static func refuseOutsideSizing(_ arguments: Arguments) throws(UsageError) {
        guard let name = all.map(\.name).first(where: { $0 != sizing.name && arguments.values[$0] != nil }) else {
            return
        }
        throw UsageError("\(name) needs --sizing.")
    }

    private static func bounded(_ number: Int, _ name: String, _ most: Int) throws(UsageError) -> Int {
        guard number <= most else { throw UsageError("\(name) needs at most \(most), not \(number).") }
        return number
    }
}
