import Foundation
import LatchkeyCore
import LatchkeySystem

/// The servers of the records, and which server has which record: one server, the primary that sentinels know, or a cluster.
///
/// Source: `Documentation/Server/Stores.md`.
final class RedisServers: Sendable {
    /// The purpose of a connection. Each purpose has its own, so that one kind of work does not wait behind another.
    enum Lane: Hashable, CaseIterable {
        /// A license's and a heartbeat's work.
        case reads, writes
        /// Operators' queries and counts.
        case operators
    }

    /// Commands that go to one server together.
    struct Request: Sendable {
        /// A key of the commands, which chooses the server. All their keys are in its slot.
        let key: String
        let commands: [[[UInt8]]]
    }

    private enum Way: Sendable {
        case one([Lane: RedisClient])
        case cluster(RedisCluster)
    }

    private let way: Way
    let limits: [Lane: Duration]
    let timekeeper: any Timekeeper

    /// - Parameters:
    ///   - address: the servers' address. Nothing is sent before the first call.
    ///   - limits: how long a call may take.
    /// - Throws: `StoreError` if the process has no descriptor left.
    init(_ address: RedisAddress, limits: [Lane: Duration], timekeeper: any Timekeeper) throws(StoreError) {
        (self.limits, self.timekeeper) = (limits, timekeeper)
        if case .cluster(let seeds) = address.form {
            way = .cluster(RedisCluster(address, seeds: seeds, limits: limits, timekeeper: timekeeper))
            return
        }
        var clients: [Lane: RedisClient] = [:]
        for lane in Lane.allCases {
            clients[lane] = try RedisClient(address, limit: limits[lane] ?? .zero, timekeeper: timekeeper)
        }
        way = .one(clients)
    }

    var cluster: RedisCluster? {
        guard case .cluster(let cluster) = way else { return nil }
        return cluster
    }

    /// Sends requests, together for each server.
    /// - Returns: the answers of each, including errors.
    /// - Throws: `StoreError` if a server does not answer in time.
    func send(_ requests: [Request], on lane: Lane) async throws(StoreError) -> [[RESPValue]] {
        switch way {
        case .cluster(let cluster): return try await cluster.send(requests, on: lane)
        case .one(let clients):
            guard let client = clients[lane] else { return [] }
            var answers = try await client.send(requests.flatMap(\.commands))[...]
            return requests.map { request in
                defer { answers = answers.dropFirst(request.commands.count) }
                return Array(answers.prefix(request.commands.count))
            }
        }
    }

    /// The server that has a key; `nil` for the only one, or an unknown one.
    func place(of key: String) -> RedisAddress.Endpoint? { cluster?.place(of: RedisSlot(of: key)) }
}

/// One of the 16,384 slots of a cluster.
///
/// Source: the specification of Redis Cluster: CRC-16 (XMODEM) of the key, or of the part between its first braces.
struct RedisSlot: Sendable, Hashable {
    static let count = 16_384
    let number: Int

    init(number: Int) { self.number = number }

    init(of key: String) {
        let bytes = Array(key.utf8)
        var hashed = bytes[...]
        if let open = bytes.firstIndex(of: UInt8(ascii: "{")),
            let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        {
            hashed = bytes[(open + 1)..<close]
        }
        number = Int(Self.crc(hashed)) % Self.count
    }

    /// CRC-16 with the polynomial 0x1021.
    static func crc(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0) { crc, byte in (crc &<< 8) ^ table[Int((crc &>> 8) ^ UInt16(byte)) & 0xff] }
    }

    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { crc, _ in crc & 0x8000 != 0 ? (crc &<< 1) ^ 0x1021 : crc &<< 1 }
    }
}
