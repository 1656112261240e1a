import Foundation
package import LatchkeyCore
package import LatchkeyEngines

/// Where Redis is, and how to log in.
///
/// Source: `Documentation/LicenseServer.md` §7.2.
package struct RedisAddress: Sendable, Hashable {
    /// Where a server listens.
    package enum Endpoint: Sendable, Hashable {
        case host(String, port: UInt16)
        case path(String)
    }

    /// Who knows the primary.
    package struct Sentinels: Sendable, Hashable {
        package let places: [Endpoint]
        /// The primary's name.
        package let name: String
    }

    /// The server; `nil` if sentinels know it.
    package let place: Endpoint?
    package let sentinels: Sentinels?
    package let user: String?
    package let password: Secret?
    package let database: Int
    /// How many replicas have to have a write; `nil` for none.
    package let replicas: RedisRecordStore.Replicas?

    /// - Parameter address: `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, `redis+unix:PATH`, or
    ///   `redis+sentinel://[[USER]:PASSWORD@]HOST:PORT[,HOST:PORT…]/NAME`. User and password may be percent-encoded. The first and the
    ///   last may end in `?replicas=COUNT`.
    /// - Throws: `StoreError` of the kind `misconfigured`, which repeats nothing of it.
    package init(_ address: Secret) throws(StoreError) {
        let text = address.revealedText
        if text.hasPrefix("redis+unix:") {
            let path = String(text.dropFirst("redis+unix:".count))
            guard (1...107).contains(path.utf8.count), !path.utf8.contains(0) else { throw .redisAddress }
            (place, sentinels, user, password, database, replicas) = (.path(path), nil, nil, nil, 0, nil)
            return
        }
        let isSentinel = text.hasPrefix("redis+sentinel://")
        guard isSentinel || text.hasPrefix("redis://") else { throw .redisAddress }
        var rest = text.dropFirst(isSentinel ? "redis+sentinel://".count : "redis://".count)
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = String(parts[0]).removingPercentEncoding,
                let word = String(parts[1]).removingPercentEncoding
            else { throw .redisAddress }
            (user, password) = (name.isEmpty ? nil : name, Secret(word))
            rest = rest[rest.index(after: at)...]
        } else {
            (user, password) = (nil, nil)
        }
        let question = rest.firstIndex(of: "?") ?? rest.endIndex
        replicas = try Self.replicas(rest[question...])
        rest = rest[..<question]
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let places = try Self.places(parts.first ?? "")
        let name = parts.count == 2 ? String(parts[1]) : ""
        if isSentinel {
            guard !name.isEmpty else { throw .redisAddress }
            (place, sentinels, database) = (nil, Sentinels(places: places, name: name), 0)
        } else {
            guard places.count == 1, let number = Int(name.isEmpty ? "0" : name), (0...65_535).contains(number) else {
                throw .redisAddress
            }
            (place, sentinels, database) = (places.first, nil, number)
        }
    }

    private static func replicas(_ query: Substring) throws(StoreError) -> RedisRecordStore.Replicas? {
        guard !query.isEmpty else { return nil }
        guard query.hasPrefix("?replicas="), let count = Int(query.dropFirst(10)), (1...9).contains(count) else {
            throw .redisAddress
        }
        return RedisRecordStore.Replicas(count)
    }

    private static func places(_ text: Substring) throws(StoreError) -> [Endpoint] {
        var places: [Endpoint] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let colon = part.hasSuffix("]") ? nil : part.lastIndex(of: ":")
            var host = String(colon.map { part[..<$0] } ?? part)
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            let port = colon.map { UInt16(part[part.index(after: $0)...]) } ?? 6_379
            guard !host.isEmpty, let port else { throw .redisAddress }
            places.append(.host(host, port: port))
        }
        return places
    }
}

extension StoreError {
    fileprivate static let redisAddress = StoreError(
        .misconfigured, "redis", reason: "The address of Redis is not in one of its forms.",
        remedy:
            "Write redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], redis+unix:PATH, or redis+sentinel://HOST:PORT/NAME; ?replicas=1 at the end is for writes that a replica has to have."
    )
}
