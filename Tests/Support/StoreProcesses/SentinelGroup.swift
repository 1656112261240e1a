// Stores can be tested in debug builds only.
#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeyTesting

    @testable import LatchkeyStores

    /// A primary, its replica and a sentinel that watches both, as real processes.
    final class SentinelGroup: Sendable {
        let primary: RedisProcess
        let replica: RedisProcess
        let sentinel: RedisProcess
        private let ports: (primary: UInt16, replica: UInt16, sentinel: UInt16)
        private let folder: TemporaryFolder

        /// Starts all three, and waits until the replica has the primary's data and the sentinel knows it.
        init() async throws {
            ports = try (UnusedPort.any(), UnusedPort.any(), UnusedPort.any())
            primary = try await RedisProcess(port: ports.primary, ["--repl-diskless-sync-delay", "0"])
            replica = try await RedisProcess(port: ports.replica, ["--replicaof", "127.0.0.1", "\(ports.primary)"])
            try await replica.says("sync: Finished with success")
            folder = try TemporaryFolder()
            sentinel = try await Self.sentinel(in: folder, port: ports.sentinel, of: ports.primary)
            try await sentinel.says("+slave slave")
        }

        /// Starts a sentinel that reports a port as the primary's for as long as it runs.
        static func sentinel(in folder: TemporaryFolder, port: UInt16, of primary: UInt16) async throws -> RedisProcess
        {
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
            let file = try folder.write(
                """
                port \(port)
                bind 127.0.0.1
                dir \(folder.url.path)
                sentinel monitor main 127.0.0.1 \(primary) 1
                sentinel down-after-milliseconds main 60000
                sentinel failover-timeout main 5000

                """, to: "sentinel-\(port).conf")
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
            return try await RedisProcess(sentinel: file)
        }

        /// The address of the sentinel's primary.
        var address: String { "redis+sentinel://127.0.0.1:\(ports.sentinel)/main" }

        /// Cuts the replica off from the primary, for as long as the primary runs.
        func cutReplica() async throws {
            try replica.command("CONFIG", "SET", "masterauth", "wrong")
            try replica.command("CLIENT", "KILL", "TYPE", "master")
            try await replica.says("Unable to AUTH to MASTER")
        }

        /// Kills the primary, and waits until the sentinel has made the replica one.
        func failOver() async throws {
            primary.stop()
            // Only now: a primary that a busy machine keeps waiting is not down.
            _ = try RedisSocket(.host("127.0.0.1", port: ports.sentinel), within: .seconds(60)).ask(
                ["SENTINEL", "SET", "main", "down-after-milliseconds", "5000"], within: .seconds(60))
            try await sentinel.says("+switch-master")
        }

        /// A store that asks sentinels, with patience for a busy machine.
        /// - Parameters:
        ///   - first: the port of a sentinel to ask before the group's own.
        ///   - replicas: how many replicas have to have a write.
        func store(after first: UInt16? = nil, replicas: RedisRecordStore.Replicas? = nil) throws -> RedisRecordStore {
            let places = [first, ports.sentinel].compactMap { $0.map { "127.0.0.1:\($0)" } }.joined(separator: ",")
            return try RedisRecordStore(
                RedisAddress(Secret("redis+sentinel://\(places)/main")), replicas: replicas, limit: .seconds(30))
        }
    }

    /// A port of loopback on which nothing listens, outside the range from which the kernel chooses ports.
    enum UnusedPort {
        private static let given = Locked<Set<UInt16>>([])

        /// - Throws: `POSIXError` if there is none.
        static func any() throws -> UInt16 {
            for _ in 0..<1_000 {
                let port = UInt16.random(in: 10_000..<32_768)
                if given.withLock({ $0.insert(port).inserted }), isFree(port) { return port }
            }
            throw POSIXError(.EADDRNOTAVAIL)
        }

        private static func isFree(_ port: UInt16) -> Bool {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            (address.sin_addr.s_addr, address.sin_port) = (UInt32(0x7f00_0001).bigEndian, port.bigEndian)
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
    }
#endif
