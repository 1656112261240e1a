import Foundation
import LatchkeyCore
import LatchkeyEngines

/// A look at Redis and its sentinels that writes nothing: connection, password, role, rights of the user, memory's policy, replicas, clock.
///
/// Blocks.
///
/// Source: `Documentation/LicenseServer.md` §7.2.
struct RedisCheck {
    private let address: RedisAddress
    /// How long a connection and each answer may take.
    private let limit = Duration.seconds(2)

    init(_ address: RedisAddress) { self.address = address }

    func findings() -> [StoreFinding] {
        if let place = address.place { return findings(at: place) }
        guard let sentinels = address.sentinels else { return [] }
        var (findings, primaries): ([StoreFinding], [RedisAddress.Endpoint]) = ([], [])
        for sentinel in sentinels.places {
            let name = "The sentinel \(sentinel.shown)"
            do throws(StoreError) {
                if let place = try primary(by: sentinel, sentinels.name, &findings) {
                    if !primaries.contains(place) { primaries.append(place) }
                }
            } catch {
                findings.append(.fault(error, at: name))
            }
        }
        if primaries.count > 1 {
            findings.append(
                .fault(
                    "The sentinels name several primaries: \(primaries.map(\.shown).joined(separator: ", ")).",
                    "Have all sentinels watch one group; see SENTINEL masters on each."))
        }
        return findings + primaries.flatMap { self.findings(at: $0) }
    }

    /// The primary that a sentinel names.
    private func primary(
        by sentinel: RedisAddress.Endpoint, _ name: String, _ findings: inout [StoreFinding]
    ) throws(StoreError) -> RedisAddress.Endpoint? {
        let socket = try RedisSocket(sentinel, within: limit)
        let answer = try socket.ask(["SENTINEL", "get-master-addr-by-name", name], within: limit)
        if case .error(let text) = answer {
            let wantsPassword = text.hasPrefix("NOAUTH")
            findings.append(
                .fault(
                    wantsPassword
                        ? "The sentinel \(sentinel.shown) wants a password."
                        : "\(sentinel.shown) is no sentinel: \(StoreError(redis: text).reason)",
                    wantsPassword
                        ? "Let it answer without one: this server sends the password to Redis alone."
                        : "Name the port of the sentinel, 26379 by default."))
            return nil
        }
        if let parts = answer.elements, parts.count == 2, let host = parts[0].text,
            let port = parts[1].text.flatMap({ UInt16($0) })
        {
            return .host(host, port: port)
        }
        findings.append(
            .fault(
                "The sentinel \(sentinel.shown) knows no primary of the name “\(name.onOneLine)”.",
                "Write the name that its configuration has behind “sentinel monitor”."))
        return nil
    }

    private func findings(at place: RedisAddress.Endpoint) -> [StoreFinding] {
        do throws(StoreError) {
            let socket = try RedisSocket(place, within: limit)
            if let refusal = try refusal(by: socket, at: place) { return [refusal] }
            return try role(socket, place) + rights(socket, place) + settings(socket, place) + clock(socket)
        } catch {
            return [.fault(error, at: place.shown)]
        }
    }

    /// Why Redis does not take the connection; `nil` if it does.
    private func refusal(by socket: RedisSocket, at place: RedisAddress.Endpoint) throws(StoreError) -> StoreFinding? {
        if let password = address.password {
            let words = ["AUTH"] + [address.user, password.revealedText].compactMap { $0 }
            if case .error(let text) = try socket.ask(words, within: limit) {
                if text.hasPrefix("WRONGPASS") || text.contains("invalid password") {
                    let who = address.user == nil ? "the password" : "the user or the password"
                    return .fault(
                        "\(place.shown) refuses \(who).",
                        "Correct the address; Redis has them in requirepass or its ACL.")
                }
                if text.contains("without any password") {
                    return .fault(
                        "\(place.shown) has no password, and the address has one.",
                        "Set requirepass there, or take the password out of the address.")
                }
                return .fault("\(place.shown) refuses the password.", "Look at the ACL of Redis.")
            }
        }
        if address.database != 0,
            case .error(let text) = try socket.ask(["SELECT", "\(address.database)"], within: limit)
        {
            if text.hasPrefix("NOPERM") { return missing(["select"], at: place) }
            return .fault("\(place.shown) has no database \(address.database).", "Correct the number in the address.")
        }
        guard case .error(let text) = try socket.ask(["PING"], within: limit) else { return nil }
        if text.hasPrefix("NOAUTH") {
            return .fault("\(place.shown) wants a password.", "Write redis://:PASSWORD@HOST, in a file of mode 0600.")
        }
        // The store sends none.
        if text.hasPrefix("NOPERM") { return nil }
        return .fault(StoreError(redis: text), at: place.shown)
    }

    /// What the user may not do of what the store does.
    private func rights(_ socket: RedisSocket, _ place: RedisAddress.Endpoint) throws(StoreError) -> [StoreFinding] {
        var (commands, lacksKeys) = ([String](), false)
        for use in RedisCommandUse.all + (address.replicas == nil ? [] : [.ofReplicas]) {
            guard case .error(let text) = try socket.ask(use.words, within: limit), text.hasPrefix("NOPERM") else {
                continue
            }
            // The other refusal is for its key.
            if text.contains("to run the") { commands.append(use.name) } else { lacksKeys = true }
        }
        var findings = commands.isEmpty ? [] : [missing(commands, at: place)]
        if lacksKeys {
            findings.append(
                .fault(
                    "\(place.shown): The user “\(user)” may not read and write all keys that begin with latchkey:.",
                    "Run there: ACL SETUSER \(user) ~latchkey:*"))
        }
        return findings
    }

    private func missing(_ commands: [String], at place: RedisAddress.Endpoint) -> StoreFinding {
        let rights = commands.map { "+\($0)" }.joined(separator: " ")
        return .fault(
            "\(place.shown): The user “\(user)” may not run \(commands.map { $0.uppercased() }.joined(separator: ", ")).",
            "Run there: ACL SETUSER \(user) \(rights) ~latchkey:*")
    }

    private var user: String { (address.user ?? "default").onOneLine }

    private func role(_ socket: RedisSocket, _ place: RedisAddress.Endpoint) throws(StoreError) -> [StoreFinding] {
        let role = try socket.ask(["ROLE"], within: limit)
        if case .error(let text) = role {
            return [
                text.hasPrefix("NOPERM")
                    ? missing(["role"], at: place) : .fault(StoreError(redis: text), at: place.shown)
            ]
        }
        guard role.elements?.first?.text == "master" else {
            return [
                .fault(
                    "\(place.shown) is a replica, which takes no changes.",
                    "Name the primary, or the sentinels with redis+sentinel://.")
            ]
        }
        let replicas = role.elements?.last?.elements?.count ?? 0
        guard let wanted = address.replicas?.count, replicas < wanted else { return [] }
        return [
            .fault(
                "\(place.shown) has \(replicas.counted("replica")), and each write waits for \(wanted).",
                "Connect more replicas, or lower ?replicas= in the address.")
        ]
    }

    private func settings(_ socket: RedisSocket, _ place: RedisAddress.Endpoint) throws(StoreError) -> [StoreFinding] {
        let answer = try socket.ask(["INFO"], within: limit)
        guard let text = answer.text else {
            return [
                .notice(
                    "\(place.shown) does not tell its settings.",
                    "See there that maxmemory-policy is noeviction, or let the user run INFO.")
            ]
        }
        let lines = text.split(whereSeparator: \.isNewline)
        func value(_ name: String) -> Substring? {
            lines.first { $0.hasPrefix("\(name):") }?.dropFirst(name.count + 1)
        }
        var findings: [StoreFinding] = []
        if value("cluster_enabled") == "1" {
            findings.append(
                .fault(
                    "\(place.shown) is part of a cluster, which this server does not follow.",
                    "Name one primary without a cluster, or sentinels with redis+sentinel://."))
        }
        if let policy = value("maxmemory_policy"), policy != "noeviction" {
            findings.append(
                .fault(
                    "\(place.shown) throws records away when its memory is full: its maxmemory-policy is \(policy).",
                    "Set maxmemory-policy noeviction there, or viewers lose slots unseen."))
        }
        if value("loading") == "1" {
            findings.append(.fault("\(place.shown) is still loading its data.", "Wait until it has loaded them."))
        }
        return findings
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
    var shown: String {
        switch self {
        case .host(let host, let port): "redis://\(host.contains(":") ? "[\(host)]" : host):\(port)".onOneLine
        case .path(let path): "redis+unix:\(path)".onOneLine
        }
    }
}
