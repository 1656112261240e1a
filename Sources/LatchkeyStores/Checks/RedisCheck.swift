import Foundation
import LatchkeyCore
import LatchkeySystem

/// Checks Redis and its sentinels without writing: connection, password, role, the user's rights, memory policy, replicas, clock.
///
/// Blocks.
///
/// Source: `Documentation/Server/Operations.md` §2.
struct RedisCheck {
    private let address: RedisAddress
    /// How long a connection and each answer may take.
    private let limit = Duration.seconds(6)

    init(_ address: RedisAddress) { self.address = address }

    func findings() -> [StoreFinding] {
        switch address.form {
        case .server(let place), .node(let place): return findings(at: place)
        case .cluster(let seeds): return clusterFindings(seeds)
        case .sentinels(let places, let name): return sentinelFindings(places, name)
        }
    }

    private func sentinelFindings(_ places: [RedisAddress.Endpoint], _ group: String) -> [StoreFinding] {
        var (findings, primaries): ([StoreFinding], [RedisAddress.Endpoint]) = ([], [])
        for sentinel in places {
            let name = "The sentinel \(shown(sentinel))"
            do throws(StoreError) {
                if let place = try primary(by: sentinel, group, &findings) {
                    if !primaries.contains(place) { primaries.append(place) }
                }
            } catch {
                findings.append(.fault(error, at: name))
            }
        }
        if primaries.count > 1 {
            findings.append(
                .fault(
                    "The sentinels name several primaries: \(primaries.map(shown).joined(separator: ", ")).",
                    "Have all sentinels watch one group; see SENTINEL masters on each."))
        }
        return findings + primaries.flatMap { self.findings(at: $0) }
    }

    /// Checks the slots, and each primary. A node of the address that does not report them is a notice if another one does.
    private func clusterFindings(_ seeds: [RedisAddress.Endpoint]) -> [StoreFinding] {
        var faults: [StoreFinding] = []
        for seed in seeds {
            let map: RedisSlotMap
            do throws(StoreError) {
                let socket = try connected(to: seed)
                if let refusal = try refusal(by: socket, at: seed) { return faults + [refusal] }
                let answer = try socket.ask(["CLUSTER", "SLOTS"], within: limit)
                if case .error(let text) = answer { return faults + [noCluster(text, at: seed)] }
                map = try RedisSlotMap(answer, from: seed)
            } catch {
                faults.append(.fault(error, at: shown(seed)))
                continue
            }
            // Faulty nodes that the address names are not needed now, but are missed when the others are down.
            var findings: [StoreFinding] = faults.map { .notice($0.reason, $0.remedy) }
            if map.uncovered > 0 {
                findings.append(
                    .fault(
                        "\(map.uncovered) of the cluster's \(RedisSlot.count) slots have no primary.",
                        "Run redis-cli --cluster check, and restore or replace the nodes that had them."))
            }
            for finding in map.primaries.flatMap({ self.findings(at: $0, isNode: true) })
            where !findings.contains(finding) { findings.append(finding) }
            return findings
        }
        return faults
    }

    private func noCluster(_ answer: String, at place: RedisAddress.Endpoint) -> StoreFinding {
        if answer.hasPrefix("NOPERM") { return missing(["cluster|slots"], at: place) }
        return .fault(
            "\(shown(place)) is not a cluster node: \(StoreError(redis: answer).reason)",
            "Use redis:// for a single server, or redis+sentinel:// if sentinels name the primary.")
    }

    private func connected(to place: RedisAddress.Endpoint) throws(StoreError) -> RedisSocket {
        try RedisSocket(place, within: limit, trusting: address.trust())
    }

    private func shown(_ place: RedisAddress.Endpoint) -> String { place.shown(isTLS: address.isTLS) }

    /// The primary that a sentinel names.
    private func primary(
        by sentinel: RedisAddress.Endpoint, _ name: String, _ findings: inout [StoreFinding]
    ) throws(StoreError) -> RedisAddress.Endpoint? {
        let socket = try connected(to: sentinel)
        let answer = try socket.ask(["SENTINEL", "get-master-addr-by-name", name], within: limit)
        if case .error(let text) = answer {
            let wantsPassword = text.hasPrefix("NOAUTH")
            findings.append(
                .fault(
                    wantsPassword
                        ? "The sentinel \(shown(sentinel)) requires a password."
                        : "\(shown(sentinel)) is not a sentinel: \(StoreError(redis: text).reason)",
                    wantsPassword
                        ? "Allow it to answer without one: this server only sends the password to Redis."
                        : "Use the sentinel's port, 26379 by default."))
            return nil
        }
        if let parts = answer.elements, parts.count == 2, let host = parts[0].text,
            let port = parts[1].text.flatMap({ UInt16($0) })
        {
            return .host(host, port: port)
        }
        findings.append(
            .fault(
                "The sentinel \(shown(sentinel)) knows no primary named “\(name.onOneLine)”.",
                "Use the name that follows “sentinel monitor” in its configuration."))
        return nil
    }

    private func findings(at place: RedisAddress.Endpoint, isNode: Bool = false) -> [StoreFinding] {
        do throws(StoreError) {
            let socket = try connected(to: place)
            if let refusal = try refusal(by: socket, at: place) { return [refusal] }
            return try role(socket, place) + rights(socket, place, isNode) + settings(socket, place, isNode)
                + (isNode ? coverage(socket) : []) + clock(socket)
        } catch {
            return [.fault(error, at: shown(place))]
        }
    }

    /// Why Redis refuses the connection; `nil` if it accepts it.
    private func refusal(by socket: RedisSocket, at place: RedisAddress.Endpoint) throws(StoreError) -> StoreFinding? {
        if let words = try address.login() {
            if case .error(let text) = try socket.ask(words, within: limit) {
                if text.hasPrefix("WRONGPASS") || text.contains("invalid password") {
                    let who = words.count == 2 ? "the password" : "the user or the password"
                    return .fault(
                        "\(shown(place)) refuses \(who).",
                        "Correct the address or its files; Redis keeps user and password in requirepass or its ACL.")
                }
                if text.contains("without any password") {
                    return .fault(
                        "\(shown(place)) has no password, but the address has one.",
                        "Set requirepass there, or remove the password from the address.")
                }
                return .fault("\(shown(place)) refuses the password.", "Check the ACL of Redis.")
            }
        }
        if address.database != 0,
            case .error(let text) = try socket.ask(["SELECT", "\(address.database)"], within: limit)
        {
            if text.hasPrefix("NOPERM") { return missing(["select"], at: place) }
            return .fault("\(shown(place)) has no database \(address.database).", "Correct the number in the address.")
        }
        guard case .error(let text) = try socket.ask(["PING"], within: limit) else { return nil }
        if text.hasPrefix("NOAUTH") {
            return .fault(
                "\(shown(place)) requires a password.",
                "Put it into a file of mode 0600, and use ?passwordFile=FILE.")
        }
        // The store does not send this command.
        if text.hasPrefix("NOPERM") { return nil }
        return .fault(StoreError(redis: text), at: shown(place))
    }

    /// Errors that another check explains better: the role, the slots, or whether the data is loaded.
    private static let saidElsewhere: Set = ["MOVED", "ASK", "CLUSTERDOWN", "READONLY", "LOADING"]

    /// The store's commands that the user may not run, or that Redis does not support.
    private func rights(
        _ socket: RedisSocket, _ place: RedisAddress.Endpoint, _ isNode: Bool
    ) throws(StoreError) -> [StoreFinding] {
        var (commands, unknown, lacksKeys) = ([String](), [String](), false)
        var errors: [Substring: StoreError] = [:]
        for use in RedisCommandUse.all + (address.replicas == nil ? [] : [.ofReplicas])
            + (isNode ? RedisCommandUse.ofClusters : [])
        {
            guard case .error(let text) = try socket.ask(use.words, within: limit) else { continue }
            let word = text.prefix { $0 != " " }
            if word == "NOPERM" {
                // The other refusal is for its key.
                if text.contains("to run the") { commands.append(use.name) } else { lacksKeys = true }
            } else if text.hasPrefix("ERR unknown command") {
                unknown.append(use.name.uppercased())
            } else if !Self.saidElsewhere.contains(String(word)), use.expected.map(text.hasPrefix) != true {
                errors[word] = StoreError(redis: text)
            }
        }
        var findings = commands.isEmpty ? [] : [missing(commands, at: place)]
        if !unknown.isEmpty {
            findings.append(
                .fault(
                    "\(shown(place)) does not know \(unknown.joined(separator: ", ")); without it, no limit is enforced.",
                    "Remove its rename-command from redis.conf, or ask the provider for a Redis that runs scripts."))
        }
        findings += errors.sorted { $0.key < $1.key }.map { .fault($0.value, at: shown(place)) }
        if lacksKeys {
            findings.append(
                .fault(
                    "\(shown(place)): The user “\(user)” may not read and write all keys that begin with latchkey:.",
                    "Run there: ACL SETUSER \(user) ~latchkey:*"))
        }
        return findings
    }

    private func missing(_ commands: [String], at place: RedisAddress.Endpoint) -> StoreFinding {
        let rights = commands.map { "+\($0)" }.joined(separator: " ")
        return .fault(
            "\(shown(place)): The user “\(user)” may not run \(commands.map { $0.uppercased() }.joined(separator: ", ")).",
            "Run there: ACL SETUSER \(user) \(rights) ~latchkey:*")
    }

    private var user: String {
        // A login with a user has the user's name in the middle.
        let words = (try? address.login()) ?? []
        return (words.count == 3 ? words[1] : "default").onOneLine
    }

    private func role(_ socket: RedisSocket, _ place: RedisAddress.Endpoint) throws(StoreError) -> [StoreFinding] {
        let role = try socket.ask(["ROLE"], within: limit)
        if case .error(let text) = role {
            return [
                text.hasPrefix("NOPERM")
                    ? missing(["role"], at: place) : .fault(StoreError(redis: text), at: shown(place))
            ]
        }
        guard role.elements?.first?.text == "master" else {
            return [
                .fault(
                    "\(shown(place)) is a replica, which accepts no changes.",
                    "Use the primary's address, or the sentinels' with redis+sentinel://.")
            ]
        }
        let replicas = role.elements?.last?.elements?.count ?? 0
        guard let wanted = address.replicas?.count, replicas < wanted else { return [] }
        return [
            .fault(
                "\(shown(place)) has \(replicas.counted("replica")), and each write waits for \(wanted).",
                "Connect more replicas, or lower ?replicas= in the address.")
        ]
    }

    private func settings(
        _ socket: RedisSocket, _ place: RedisAddress.Endpoint, _ isNode: Bool
    ) throws(StoreError) -> [StoreFinding] {
        let answer = try socket.ask(["INFO"], within: limit)
        guard let text = answer.text else {
            return [
                .notice(
                    "\(shown(place)) does not reveal its settings.",
                    "Check there that maxmemory-policy is noeviction, or let the user run INFO.")
            ]
        }
        let lines = text.split(whereSeparator: \.isNewline)
        func value(_ name: String) -> Substring? {
            lines.first { $0.hasPrefix("\(name):") }?.dropFirst(name.count + 1)
        }
        var findings: [StoreFinding] = []
        if value("cluster_enabled") == "1", !isNode {
            findings.append(
                .fault("\(shown(place)) is part of a cluster.", "Use redis+cluster://HOST:PORT for a cluster."))
        }
        if let policy = value("maxmemory_policy"), policy != "noeviction" {
            findings.append(
                .fault(
                    "\(shown(place)) evicts records when its memory is full: its maxmemory-policy is \(policy).",
                    "Set maxmemory-policy noeviction there, or viewers silently lose slots."))
        }
        if value("loading") == "1" {
            findings.append(.fault("\(shown(place)) is still loading its data.", "Wait until it has loaded them."))
        }
        return findings
    }

    /// Whether the cluster needs all of its slots. A user who may not ask learns nothing; a license needs no such right.
    private func coverage(_ socket: RedisSocket) throws(StoreError) -> [StoreFinding] {
        let name = "cluster-require-full-coverage"
        let answer = try socket.ask(["CONFIG", "GET", name], within: limit)
        guard answer.elements?.last?.text == "yes" else { return [] }
        return [
            .notice(
                "While one primary of the cluster is away, all others refuse, too: \(name) is yes.",
                "Set \(name) no on each node; then only the accounts of that primary are affected.")
        ]
    }

    private func clock(_ socket: RedisSocket) throws(StoreError) -> [StoreFinding] {
        let start = Date()
        let parts = try socket.ask(["TIME"], within: limit).elements?.compactMap(\.text).compactMap { Double($0) }
        guard let parts, parts.count == 2 else { return [] }
        let clock = Date(timeIntervalSince1970: parts[0] + parts[1] / 1_000_000)
        return StoreFinding.clock(clock, between: start, and: Date())
    }
}

extension RedisAddress.Endpoint {
    /// The place as an address without user and password.
    func shown(isTLS: Bool) -> String {
        switch self {
        case .host(let host, let port):
            "redis\(isTLS ? "s" : "")://\(host.contains(":") ? "[\(host)]" : host):\(port)".onOneLine
        case .path(let path): "redis+unix:\(path)".onOneLine
        }
    }
}
