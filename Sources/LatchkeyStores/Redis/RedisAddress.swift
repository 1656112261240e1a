import Foundation
package import LatchkeyCore
package import LatchkeySystem

/// The address of Redis, and its login.
///
/// Source: `Documentation/Server/Stores.md`.
package struct RedisAddress: Sendable, Hashable {
    /// The address on which a server listens.
    package enum Endpoint: Sendable, Hashable {
        case host(String, port: UInt16)
        case path(String)
    }

    /// How the server of the records is found.
    package enum Form: Sendable, Hashable {
        /// One server, which is the primary.
        case server(Endpoint)
        /// Sentinels, which know the primary by a name.
        case sentinels([Endpoint], name: String)
        /// Some nodes of a cluster, each of which knows the others.
        case cluster([Endpoint])
        /// One node of a cluster, whatever its role.
        case node(Endpoint)
    }

    /// Files of the address, each with its parameter's name.
    package enum File: String, Sendable, CaseIterable {
        /// The user's name, and the password: secrets, read again for each connection.
        case userFile, passwordFile
        /// The authorities whose certificates are trusted, as PEM text.
        case caFile
        /// The client's own certificate, and its key, a secret.
        case certificateFile, keyFile

        package var isSecret: Bool { self == .passwordFile || self == .keyFile }
    }

    package private(set) var form: Form
    package let isTLS: Bool
    package let user: String?
    package let password: Secret?
    package let database: Int
    /// The number of replicas that must have a write; `nil` for none.
    package let replicas: RedisRecordStore.Replicas?
    /// The paths of files.
    package let files: [File: String]

    /// - Parameter address: `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, `redis+unix:PATH`,
    ///   `redis+sentinel://[[USER]:PASSWORD@]HOST:PORT[,HOST:PORT…]/NAME`, or
    ///   `redis+cluster://[[USER]:PASSWORD@]HOST:PORT[,HOST:PORT…]`; with `rediss` over TLS. User and password may be percent-encoded.
    ///   Except for a path, parameters may follow: `?replicas=COUNT`, and the names of `File` with a path each.
    /// - Throws: `StoreError` of the kind `misconfigured`, which does not quote the address.
    package init(_ address: Secret) throws(StoreError) {
        let text = address.revealedText
        if text.hasPrefix("redis+unix:") {
            let path = String(text.dropFirst("redis+unix:".count))
            guard (1...107).contains(path.utf8.count), !path.utf8.contains(0) else { throw .redisAddress }
            (form, isTLS, user, password, database, replicas, files) = (
                .server(.path(path)), false, nil, nil, 0, nil, [:]
            )
            return
        }
        guard let scheme = RedisScheme(of: text) else { throw .redisAddress }
        isTLS = scheme.isTLS
        var rest = text.dropFirst(scheme.text.count)
        // A file's path may contain an @, too.
        if let at = rest[..<Self.parameters(in: rest)].lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = String(parts[0]).removingPercentEncoding,
                let word = parts.count == 2 ? String(parts[1]).removingPercentEncoding : ""
            else { throw .redisAddress }
            (user, password) = (name.isEmpty ? nil : name, parts.count == 2 ? Secret(word) : nil)
            rest = rest[rest.index(after: at)...]
        } else {
            (user, password) = (nil, nil)
        }
        let question = rest.firstIndex(of: "?") ?? rest.endIndex
        guard !text.hasSuffix("?") else { throw .redisAddress }
        (replicas, files) = try Self.parameters(rest[question...].dropFirst())
        rest = rest[..<question]
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let places = try Self.places(parts.first ?? "")
        let name = parts.count == 2 ? String(parts[1]) : ""
        switch scheme.kind {
        case .sentinel:
            guard !name.isEmpty else { throw .redisAddress }
            (form, database) = (.sentinels(places, name: name), 0)
        case .cluster:
            // A cluster has one database.
            guard name.isEmpty else { throw .redisAddress }
            (form, database) = (.cluster(places), 0)
        case .server:
            guard places.count == 1, let number = Int(name.isEmpty ? "0" : name), (0...65_535).contains(number) else {
                throw .redisAddress
            }
            (form, database) = (.server(places[0]), number)
        }
        // A user without a password, a key without its certificate, and files of TLS without TLS are mistakes.
        let hasPassword = password != nil || files[.passwordFile] != nil
        guard user == nil || files[.userFile] == nil, password == nil || files[.passwordFile] == nil,
            hasPassword || (user == nil && files[.userFile] == nil),
            (files[.keyFile] == nil) == (files[.certificateFile] == nil),
            isTLS || (files[.caFile] == nil && files[.keyFile] == nil)
        else { throw .redisAddress }
    }

    /// The address of one node of the cluster.
    func node(_ place: Endpoint) -> RedisAddress {
        var node = self
        node.form = .node(place)
        return node
    }

    /// The start of the parameters: the first question mark followed by a parameter's name, because a password may contain others.
    /// The end if there are none.
    static func parameters(in text: Substring) -> Substring.Index {
        let names = File.allCases.map(\.rawValue) + ["replicas"]
        let mark = text.indices.first { index in
            text[index] == "?" && names.contains { text[index...].dropFirst().hasPrefix("\($0)=") }
        }
        return mark ?? text.endIndex
    }

    private static func parameters(
        _ query: Substring
    ) throws(StoreError) -> (RedisRecordStore.Replicas?, [File: String]) {
        var (replicas, files): (RedisRecordStore.Replicas?, [File: String]) = (nil, [:])
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = String(parts[1]).removingPercentEncoding, !value.isEmpty else {
                throw .redisAddress
            }
            if parts[0] == "replicas", replicas == nil, let count = Int(value), (1...9).contains(count) {
                replicas = RedisRecordStore.Replicas(count)
            } else if let file = File(rawValue: String(parts[0])), files[file] == nil {
                files[file] = value
            } else {
                throw .redisAddress
            }
        }
        return (replicas, files)
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

/// The start of a Redis address.
struct RedisScheme {
    enum Topology: String, CaseIterable {
        case server = ""
        case sentinel = "+sentinel"
        case cluster = "+cluster"
    }

    let kind: Topology
    let isTLS: Bool
    var text: String { "redis\(isTLS ? "s" : "")\(kind.rawValue)://" }

    /// - Returns: `nil` for another scheme.
    init?(of text: String) {
        let all = Topology.allCases.flatMap { kind in [false, true].map { Self(kind: kind, isTLS: $0) } }
        guard let scheme = all.first(where: { text.hasPrefix($0.text) }) else { return nil }
        self = scheme
    }

    private init(kind: Topology, isTLS: Bool) { (self.kind, self.isTLS) = (kind, isTLS) }
}

extension RedisAddress.Endpoint {
    /// A place as Redis writes it in an answer: `HOST:PORT`; without a host, it is the answering node's.
    init?(_ text: Substring, from asked: Self) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        self.init(String(text[..<colon]), port, from: asked)
    }

    init?(_ host: String, _ port: UInt16, from asked: Self) {
        if host.isEmpty || host == "?" {
            guard case .host(let host, _) = asked else { return nil }
            self = .host(host, port: port)
        } else {
            self = .host(host, port: port)
        }
    }
}

extension StoreError {
    static let redisAddress = StoreError(
        .misconfigured, "redis", reason: "The address of Redis has an unknown form.",
        remedy:
            "Use redis://[USER@]HOST[:PORT][/DATABASE], redis+unix:PATH, redis+sentinel://HOST:PORT/NAME, or redis+cluster://HOST:PORT, with rediss for TLS; then ?passwordFile=FILE, &caFile=FILE, or &replicas=1 for writes that must reach a replica."
    )
}
