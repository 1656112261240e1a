import Foundation
import LatchkeyCore
import LatchkeySystem

/// The nodes of a cluster: sends each request to the primary of its slot, and follows redirections.
///
/// Each primary gets its own connections when they are needed. The map of slots comes from any node, at the first call, when a node
/// redirects a request, and when one does not answer.
///
/// Source: `Documentation/Server/Stores.md`.
final class RedisCluster: Sendable {
    /// The target of a request, and whether the node is only taking the slot over.
    private struct Goal: Hashable {
        var place: RedisAddress.Endpoint
        var isAsking = false
    }

    private struct Line: Hashable {
        let place: RedisAddress.Endpoint
        let lane: RedisServers.Lane
    }

    private struct State {
        var map: RedisSlotMap?
        var clients: [Line: RedisClient] = [:]
        var refresh: Promise<RedisSlotMap, any Error>?
        var refreshed: Duration?
        var redirections: [ClusterRedirection: UInt64] = [:]
    }

    /// A request on its way.
    private struct Journey {
        let slot: RedisSlot
        var goal: Goal?
        var answers: [RESPValue]?
    }

    /// The most nodes that are asked for the map at the same time.
    private static let asked = 5
    /// How long a map counts as new.
    private static let newness = Duration.milliseconds(20)

    private let address: RedisAddress
    private let seeds: [RedisAddress.Endpoint]
    private let limits: [RedisServers.Lane: Duration]
    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    init(
        _ address: RedisAddress, seeds: [RedisAddress.Endpoint], limits: [RedisServers.Lane: Duration],
        timekeeper: any Timekeeper
    ) {
        (self.address, self.seeds, self.limits, self.timekeeper) = (address, seeds, limits, timekeeper)
    }

    /// How often nodes redirected a request or put it off.
    var redirections: [ClusterRedirection: UInt64] { state.withLock { $0.redirections } }

    func place(of slot: RedisSlot) -> RedisAddress.Endpoint? { state.withLock { $0.map?[slot] } }

    /// The slot's primary, which fails independently of the others; 0 until the map is known.
    func part(of slot: RedisSlot) -> Int { state.withLock { $0.map?.rank(of: slot) ?? 0 } }

    /// The known primaries.
    /// - Throws: `StoreError` if no node answers.
    func primaries() async throws(StoreError) -> [RedisAddress.Endpoint] { try await map().primaries }

    /// Sends requests, and follows redirections until the time is over. A node that does not answer is not sent them again: it is unknown
    /// whether it carried them out.
    func send(
        _ requests: [RedisServers.Request], on lane: RedisServers.Lane
    ) async throws(StoreError) -> [[RESPValue]] {
        let deadline = timekeeper.uptime + (limits[lane] ?? .zero)
        var (journeys, pause) = (requests.map { Journey(slot: RedisSlot(of: $0.key)) }, Duration.milliseconds(1))
        var map = try await map()
        while true {
            let open = journeys.indices.filter { journeys[$0].answers == nil }
            guard !open.isEmpty else { return journeys.map { $0.answers ?? [] } }
            // Two nodes may name each other for a while.
            guard timekeeper.uptime <= deadline else { throw Self.isDown }
            var (isLate, isUncovered) = (false, false)
            var groups: [Goal: [Int]] = [:]
            for index in open {
                guard let goal = journeys[index].goal ?? map[journeys[index].slot].map({ Goal(place: $0) }) else {
                    isUncovered = true
                    continue
                }
                groups[goal, default: []].append(index)
            }
            if isUncovered { note(.down) }
            for (goal, indices, answers) in try await send(groups, requests, lane) {
                for (index, answers) in zip(indices, answers) {
                    isLate = take(answers, from: goal, &journeys[index]) || isLate
                }
            }
            guard isLate || isUncovered else {
                map = state.withLock { $0.map } ?? map
                continue
            }
            guard timekeeper.uptime + pause < deadline else { throw Self.isDown }
            try? await timekeeper.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(50))
            map = try await refreshed()
        }
    }

    private static let isDown = StoreError.redis(
        "The cluster does not accept commands for some of its slots.",
        remedy: "Run redis-cli --cluster check; while slots move or a replica takes over, this resolves automatically.")

    /// Sends each node its requests.
    private func send(
        _ groups: [Goal: [Int]], _ requests: [RedisServers.Request], _ lane: RedisServers.Lane
    ) async throws(StoreError) -> [(goal: Goal, indices: [Int], answers: [[RESPValue]])] {
        let calls = groups.map { goal, indices in (goal: goal, indices: indices, sent: indices.map { requests[$0] }) }
        // The usual case, without a separate task.
        if calls.count == 1, let call = calls.first {
            return [(call.goal, call.indices, try await send(call.sent, to: call.goal, lane))]
        }
        let outcomes = await withTaskGroup(of: (Int, Result<[[RESPValue]], StoreError>).self) { group in
            for (number, call) in calls.enumerated() {
                group.addTask {
                    let outcome = await Result { () async throws(StoreError) in
                        try await self.send(call.sent, to: call.goal, lane)
                    }
                    return (number, outcome)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var done: [(goal: Goal, indices: [Int], answers: [[RESPValue]])] = []
        for (number, outcome) in outcomes {
            done.append((calls[number].goal, calls[number].indices, try outcome.get()))
        }
        return done
    }

    private func send(
        _ requests: [RedisServers.Request], to goal: Goal, _ lane: RedisServers.Lane
    ) async throws(StoreError) -> [[RESPValue]] {
        let asking = [Array("ASKING".utf8)]
        let commands = requests.flatMap { goal.isAsking ? $0.commands.flatMap { [asking, $0] } : $0.commands }
        var answers: ArraySlice<RESPValue>
        do throws(StoreError) {
            answers = try await client(at: goal.place, lane).send(commands)[...]
        } catch {
            // In the background: the next caller finds the replica that took over.
            if error.kind == .unavailable { _ = startTask { _ = try? await self.refreshed() } }
            throw error
        }
        if goal.isAsking { answers = answers.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)[...] }
        return requests.map { request in
            defer { answers = answers.dropFirst(request.commands.count) }
            return Array(answers.prefix(request.commands.count))
        }
    }

    /// Takes the answers to a request, or its next target.
    /// - Returns: whether it has to wait.
    private func take(_ answers: [RESPValue], from goal: Goal, _ journey: inout Journey) -> Bool {
        for case .error(let text) in answers {
            guard let redirection = ClusterRedirection(text) else { continue }
            note(redirection)
            let words = text.split(separator: " ")
            journey.goal = nil
            switch redirection {
            case .moved:
                guard words.count > 2, let place = RedisAddress.Endpoint(words[2], from: goal.place) else {
                    return true
                }
                state.withLock { $0.map?.move(journey.slot, to: place) }
                // If one slot moved, others did, too.
                _ = startTask { _ = try? await self.refreshed() }
                return false
            case .ask:
                guard words.count > 2, let place = RedisAddress.Endpoint(words[2], from: goal.place) else {
                    return true
                }
                journey.goal = Goal(place: place, isAsking: true)
                return false
            case .tryAgain, .down: return true
            }
        }
        journey.answers = answers
        return false
    }

    private func note(_ redirection: ClusterRedirection) {
        state.withLock { $0.redirections[redirection, default: 0] += 1 }
    }

    private func client(at place: RedisAddress.Endpoint, _ lane: RedisServers.Lane) throws(StoreError) -> RedisClient {
        let line = Line(place: place, lane: lane)
        if let client = state.withLock({ $0.clients[line] }) { return client }
        let client = try RedisClient(address.node(place), limit: limits[lane] ?? .zero, timekeeper: timekeeper)
        return state.withLock { state in
            if let first = state.clients[line] { return first }
            state.clients[line] = client
            return client
        }
    }

    // MARK: The map

    private func map() async throws(StoreError) -> RedisSlotMap {
        if let map = state.withLock({ $0.map }) { return map }
        return try await refreshed()
    }

    /// A node's current map. All concurrent callers wait for the same one.
    /// - Throws: `StoreError` if no node returns one.
    @discardableResult
    func refreshed() async throws(StoreError) -> RedisSlotMap {
        let now = timekeeper.uptime
        let promise = Promise<RedisSlotMap, any Error>()
        typealias Look = (
            running: Promise<RedisSlotMap, any Error>?, map: RedisSlotMap?, places: [RedisAddress.Endpoint]
        )
        let (running, map, places) = state.withLock { state -> Look in
            if let map = state.map, let last = state.refreshed, now - last < Self.newness { return (nil, map, []) }
            if let running = state.refresh { return (running, nil, []) }
            state.refresh = promise
            let known = Set(seeds).union(state.map?.primaries ?? []).union(state.map?.replicas ?? [])
            return (nil, nil, Array(known.shuffled().prefix(max(Self.asked, seeds.count))))
        }
        if let map { return map }
        if running == nil { ask(places, for: promise) }
        do { return try await (running ?? promise).value } catch {
            throw error as? StoreError ?? .redis("No node of the cluster answers.")
        }
    }

    /// Asks nodes for the map, and takes the first that comes: a hanging node delays nothing. If none comes, the error is one that an
    /// operator has to fix, if there is one, and otherwise the last.
    private func ask(_ places: [RedisAddress.Endpoint], for promise: Promise<RedisSlotMap, any Error>) {
        let errors = Locked<[StoreError]>([])
        for place in places {
            _ = startTask { [self] in
                do throws(StoreError) {
                    let answers = try await client(at: place, .operators).send([
                        [Array("CLUSTER".utf8), Array("SLOTS".utf8)]
                    ])
                    finish(.success(try RedisSlotMap(try answers.first.checked(), from: place)), promise)
                } catch {
                    let all = errors.withLock { errors in
                        errors.append(error)
                        return errors
                    }
                    guard all.count == places.count else { return }
                    finish(.failure(all.first { $0.kind == .misconfigured } ?? error), promise)
                }
            }
        }
    }

    private func finish(_ outcome: Result<RedisSlotMap, any Error>, _ promise: Promise<RedisSlotMap, any Error>) {
        let now = timekeeper.uptime
        state.withLock { state in
            guard promise.outcome == nil, state.refresh === promise else { return }
            state.refresh = nil
            guard case .success(let map) = outcome else { return }
            (state.map, state.refreshed) = (map, now)
            // Connections to removed nodes are closed when no call waits for them.
            let known = Set(seeds).union(map.primaries).union(map.replicas)
            state.clients = state.clients.filter { known.contains($0.key.place) }
        }
        promise.resolve(outcome)
    }
}

extension ClusterRedirection {
    /// The meaning of an error of Redis for a request; `nil` for any other error.
    fileprivate init?(_ text: String) {
        switch text.prefix(while: { $0 != " " }) {
        case "MOVED": self = .moved
        case "ASK": self = .ask
        case "TRYAGAIN": self = .tryAgain
        case "CLUSTERDOWN", "LOADING", "MASTERDOWN": self = .down
        default: return nil
        }
    }
}
