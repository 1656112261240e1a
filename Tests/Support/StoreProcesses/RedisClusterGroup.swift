// Stores can be tested in debug builds only.
#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeySystem
    import LatchkeyTesting

    @testable import LatchkeyStores

    /// A cluster of three primaries with a replica each, as real processes.
    final class RedisClusterGroup: Sendable {
        /// The files of the nodes' TLS identity and trust.
        struct Certificates: Sendable {
            let certificate, key, authority: String
        }

        /// A node, and how to start it again.
        private struct Node: Sendable {
            let process: RedisProcess
            let port, bus: UInt16
            let arguments: [String]

            func knows(_ names: [String]) throws -> Bool {
                let known = try process.command("CLUSTER", "NODES").text ?? ""
                return names.allSatisfy(known.contains) && !known.contains("handshake")
            }
        }

        static let primaries = 3
        private let nodes: Locked<[Node]>
        private let folder: TemporaryFolder
        private let isTLS: Bool

        /// Starts all six, and waits until all slots have a primary and all replicas have their primary's data.
        /// - Parameters:
        ///   - certificates: for TLS; `nil` for none.
        ///   - arguments: further settings.
        init(
            certificates: Certificates? = nil, _ arguments: [String] = []
        ) async throws {
            isTLS = certificates != nil
            folder = try TemporaryFolder()
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
            var started: [Node] = []
            for number in 0..<Self.primaries * 2 {
                started.append(
                    try await Self.start(number, in: folder, certificates, arguments))
            }
            nodes = Locked(started)
            try await join()
        }

        private static func start(
            _ number: Int, in folder: TemporaryFolder, _ certificates: Certificates?, _ more: [String]
        ) async throws -> Node {
            let (port, bus) = try (UnusedPort.any(), UnusedPort.any())
            var arguments = [
                "--cluster-enabled", "yes", "--cluster-config-file", "nodes-\(number).conf", "--cluster-port", "\(bus)",
                // A node that a busy machine keeps waiting is not away: `takeOver` says when one is.
                "--cluster-node-timeout", "60000", "--cluster-replica-no-failover", "yes",
                "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0", "--dir", folder.url.path,
                // By default all primaries refuse while one is down and its replica has not taken over.
                "--cluster-require-full-coverage", "no",
            ]
            if let certificates {
                arguments += [
                    "--tls-port", "\(port)", "--tls-cert-file", certificates.certificate, "--tls-key-file",
                    certificates.key, "--tls-ca-cert-file", certificates.authority, "--tls-cluster", "yes",
                    "--tls-replication", "yes", "--cluster-announce-hostname", "localhost",
                    "--cluster-preferred-endpoint-type", "hostname",
                ]
            }
            arguments += more
            let process = try await RedisProcess(port: certificates == nil ? port : 0, arguments)
            return Node(process: process, port: port, bus: bus, arguments: arguments)
        }

        private func join() async throws {
            let nodes = nodes.withLock { $0 }
            for (number, node) in nodes.enumerated() {
                try node.process.command("CLUSTER", "SET-CONFIG-EPOCH", "\(number + 1)")
                guard number < Self.primaries else { continue }
                let slots = (0...Self.primaries).map { RedisSlot.count * $0 / Self.primaries }
                try node.process.command("CLUSTER", "ADDSLOTSRANGE", "\(slots[number])", "\(slots[number + 1] - 1)")
            }
            for node in nodes.dropFirst() {
                try nodes[0].process.command("CLUSTER", "MEET", "127.0.0.1", "\(node.port)", "\(node.bus)")
            }
            for node in nodes { try await node.process.says("Cluster state changed: ok") }
            let names = try nodes.map { try $0.process.command("CLUSTER", "MYID").text ?? "" }
            // A state may be right before all have met; a node knows another by its name only when both have shaken hands.
            for node in nodes { while try !node.knows(names) { await Task.yield() } }
            for (number, name) in names.prefix(Self.primaries).enumerated() {
                let replica = nodes[number + Self.primaries].process
                try replica.command("CLUSTER", "REPLICATE", name)
                try await replica.says("sync: Finished with success")
            }
        }

        /// A node: the primaries come first, and the replica of each is three behind it.
        func node(_ number: Int) -> RedisProcess { nodes.withLock { $0[number].process } }

        func port(_ number: Int) -> UInt16 { nodes.withLock { $0[number].port } }

        /// The address, with a part before it, such as a user, and one behind it.
        func address(_ login: String = "", _ rest: String = "", of numbers: [Int] = [0, 1, 2]) throws -> RedisAddress {
            let host = isTLS ? "localhost" : "127.0.0.1"
            let places = numbers.map { "\(host):\(port($0))" }.joined(separator: ",")
            return try RedisAddress(Secret("redis\(isTLS ? "s" : "")+cluster://\(login)\(places)\(rest)"))
        }

        /// A store with patience for a busy machine.
        func store(limit: Duration = .seconds(30)) throws -> RedisRecordStore {
            try RedisRecordStore(address(), limit: limit)
        }

        /// Empties it.
        func flush() throws {
            for number in 0..<Self.primaries { try node(number).command("FLUSHALL") }
        }

        /// The slots as a node has them.
        func map(by number: Int) throws -> RedisSlotMap {
            let process = node(number)
            return try RedisSlotMap(
                process.command("CLUSTER", "SLOTS"), from: .host("127.0.0.1", port: port(number)))
        }

        /// Kills a primary or makes it hang, and waits until its replica has taken over.
        func failOver(_ number: Int, hanging: Bool = false) async throws {
            if hanging { node(number).pause() } else { node(number).stop() }
            try await takeOver(number)
        }

        /// Lets the replica of a primary that is away take over, and waits for it.
        func takeOver(_ number: Int) async throws {
            for other in 0..<Self.primaries * 2 where other != number {
                try node(other).command("CONFIG", "SET", "cluster-node-timeout", "2000")
            }
            let replica = node(number + Self.primaries)
            try replica.command("CONFIG", "SET", "cluster-replica-no-failover", "no")
            try await replica.says("Failover election won")
        }

        /// Restarts a killed node. It comes back with the data of the others.
        func restart(_ number: Int) async throws {
            let former = nodes.withLock { $0[number] }
            let process = try await RedisProcess(port: isTLS ? 0 : former.port, former.arguments)
            nodes.withLock {
                $0[number] = Node(
                    process: process, port: former.port, bus: former.bus, arguments: former.arguments)
            }
            try await process.says("sync: Finished with success")
        }

        /// Moves a slot with its keys to another primary.
        /// - Parameter between: runs while some keys are here and some there.
        func move(
            _ slot: RedisSlot, from source: Int, to target: Int, _ between: () async throws -> Void = {}
        ) async throws {
            let (here, there) = (node(source), node(target))
            let (hereID, thereID) = (
                try here.command("CLUSTER", "MYID").text ?? "", try there.command("CLUSTER", "MYID").text ?? ""
            )
            try there.command("CLUSTER", "SETSLOT", "\(slot.number)", "IMPORTING", hereID)
            try here.command("CLUSTER", "SETSLOT", "\(slot.number)", "MIGRATING", thereID)
            try await between()
            while let key = try here.command("CLUSTER", "GETKEYSINSLOT", "\(slot.number)", "1").elements?.first?.text {
                try here.command("MIGRATE", "127.0.0.1", "\(port(target))", key, "0", "5000")
            }
            for process in [there, here] {
                try process.command("CLUSTER", "SETSLOT", "\(slot.number)", "NODE", thereID)
            }
        }
    }

    /// One after another.
    actor Turns {
        private var isTaken = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func take() async {
            guard isTaken else {
                isTaken = true
                return
            }
            await withCheckedContinuation { waiting.append($0) }
        }

        func give() {
            guard !waiting.isEmpty else {
                isTaken = false
                return
            }
            waiting.removeFirst().resume()
        }
    }
#endif
