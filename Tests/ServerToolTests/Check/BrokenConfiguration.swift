import Foundation
import LatchkeyStores
import TLSPeer
import Testing

@testable import LatchkeyServerTool
@testable import StoreProcesses
@testable import TestServers

/// A way to break a configuration, and the check's expected finding.
struct BrokenConfiguration: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: [String]
    let spoil: @Sendable (CheckStage) async throws -> Void

    init(_ name: String, _ expected: String..., spoil: @escaping @Sendable (CheckStage) async throws -> Void) {
        (testDescription, self.expected, self.spoil) = (name, expected, spoil)
    }

    private static func with(_ name: String, _ changes: [String: JSONValue?], _ expected: String...) -> Self {
        Self(name, expected) { try $0.folder.edit(changes) }
    }

    private init(
        _ name: String, _ expected: [String], spoil: @escaping @Sendable (CheckStage) async throws -> Void
    ) {
        (testDescription, self.expected, self.spoil) = (name, expected, spoil)
    }

    // MARK: - Faulty form

    static let ofForm: [Self] = [
        Self("a comma too many", "This is not JSON from line") {
            try $0.folder.replace(#""drainDelay""#, #","drainDelay""#)
        },
        with("a misspelt member", ["tenant": [:]], "tenant: There is no such member."),
        Self("a member twice", "A member is repeated") {
            try $0.folder.replace(#""version":1"#, #""version":1,"version":1"#)
        },
        with("a certificate without its key", ["players.certificate": "nope.pem"], "players: "),
        with(
            "an operator's key in clear", ["admins.0.key": "hunter2"], "admins[0].key: ", "Write 64 hexadecimal digits."
        ),
        with(
            "an unknown right", ["tenants.demo.packagers.0.rights.0": "speke:reed"],
            "tenants.demo.packagers[0].rights[0]: ", "“speke:reed”"),
        with("an unknown role", ["admins.0.role": "root"], "admins[0].role: ", "Write one of viewer"),
        with(
            "trusted proxies that are none", ["trustedProxies": ["10.0.0.0/33", "proxy.local"]], "trustedProxies[0]: ",
            "trustedProxies[1]: "),
        Self("two listeners on one port", "packagers.port: The listeners players and packagers have the same port.") {
            stage in
            let port = JSONValue.number(Double(try UnusedPort.any()))
            try stage.folder.edit(["players.port": port, "packagers.port": port])
        },
        with(
            "credentials twice", ["licensee.credentials.1": ["folder": "credentials"]],
            "licensee.credentials[1]: It is already in the list."),
        Self("a configuration that is not there", "server.json cannot be read: no such file.") {
            try FileManager.default.removeItem(atPath: $0.folder.configuration)
        },
    ]

    // MARK: - Faulty files

    static let ofFiles: [Self] = [
        Self("another key encryption key", "tenants.demo.keys: ") {
            try $0.secret(String(repeating: "ab", count: 32), to: "kek.hex")
        },
        Self("half a key encryption key", "keyEncryptionKey: ", "a truncated key") {
            try $0.secret(String(repeating: "ab", count: 16), to: "kek.hex")
        },
        Self(
            "a key encryption key that others read", "keyEncryptionKey: ", "accessible to other users", "Run chmod 600"
        ) {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: $0.folder.file("kek.hex").path)
        },
        with(
            "a policy that is not there", ["tenants.demo.policy": "premium"],
            "tenants.demo.policy: The policy “premium” does not exist."),
        Self("an example that fails", "policies demo:examples[1].expect: ") {
            try $0.folder.edit(["examples.1.expect": "license"], in: "policies/demo.json")
        },
        Self("a duration in words", "policies demo:validity.lease: ", "Write a duration such as") {
            try $0.folder.edit(["validity.lease": "5 minutes"], in: "policies/demo.json")
        },
        Self("a key set whose key is too short", "tenants.demo.tokens.keys: ") {
            try $0.secret(#"{"keys":[{"kty":"oct","kid":"demo","alg":"HS256","k":"AAAA"}]}"#, to: "jwks.json")
        },
        with("credentials that are not there", ["licensee.credentials.0.folder": "nope"], "licensee.credentials[0]"),
        with(
            "a crypto_mb that is not there", ["cryptoMB": "./x.so"], "cryptoMB: The library ",
            "x.so cannot be used. It is not a file."),
        with("a derivation that is not there", ["licensee.derivation": "x.so"], "licensee.derivation: "),
        Self(
            "a node's secret that is not there, beside a fault of the policies", "nodeSecret: ",
            "policies demo:validity.lease: "
        ) {
            try FileManager.default.removeItem(at: $0.folder.file("node-secret.hex"))
            try $0.folder.edit(["validity.lease": "5 minutes"], in: "policies/demo.json")
        },
        Self("no key encryption key, beside a fault of a tenant", "keyEncryptionKey: ", "tenants.demo.policy: ") {
            try FileManager.default.removeItem(at: $0.folder.file("kek.hex"))
            try $0.folder.edit(["tenants.demo.policy": "premium"])
        },
        Self("a copy in a folder that is not there", "stores.copy: ") {
            try $0.store("copy", "sqlite:nowhere/copy.db")
        },
    ]

    // MARK: - Faulty addresses

    static let ofAddresses: [Self] = [
        with(
            "a key set by http", ["tenants.demo.tokens.keys": "http://127.0.0.1:9/jwks.json"],
            "tenants.demo.tokens.keys: Key sets are only fetched over https."),
        with(
            "a dead https key set", ["tenants.demo.tokens.keys": "https://127.0.0.1:1/jwks.json"],
            "tenants.demo.tokens.keys: The key set cannot be fetched."),
        with(
            "a dead callout", ["tenants.demo.callout.url": "https://127.0.0.1:1/ask"],
            "tenants.demo.callout.url: The callout cannot be reached."),
        Self(
            "a callout behind a gateway that does not reach it",
            "tenants.demo.callout.url: The callout responds with 503"
        ) {
            try $0.callout(answering: "503 Away")
        },
        Self("a callout that is elsewhere", "tenants.demo.callout.url: The callout responds with 308") {
            try $0.callout(answering: "308 There")
        },
        Self("a callout that says nothing", "The callout cannot be reached. It took longer than 5 s.") { stage in
            let service = try LoopbackServer { _, _ in .hang }
            stage.keep(service)
            try stage.callout(at: service.port)
        },
        with(
            "an address that is not this machine's", ["players.address": "192.0.2.1", "players.port": 4000],
            "players.address: 192.0.2.1:4000 is not an address of this machine."),
        with(
            "a name in an address's place", ["players.address": "example", "players.port": 4000],
            "players.address: “example” is not an IP address."),
    ]

    // MARK: - Faulty stores

    static let ofStores: [Self] = [
        with(
            "no store of keys", ["stores.keys": nil],
            "stores.keys: Keys are kept in memory although there is a keyEncryptionKey"),
        Self("a role that PostgreSQL does not know", "stores.keys: PostgreSQL refuses the role or its password.") {
            stage in
            try stage.store("keys", stage.address.replacing("//latchkey:", with: "//nobody_here:"))
        },
        Self("a wrong password of PostgreSQL", "stores.keys: PostgreSQL refuses the role or its password.") { stage in
            try stage.store("keys", stage.address.replacing("hunter2", with: "hunter3"))
        },
        Self("a closed port of PostgreSQL", "stores.keys: The host does not accept the connection.") {
            try $0.store("keys", "postgresql://latchkey_node@127.0.0.1:1/latchkey")
        },
        Self("an empty database", "stores.keys: The database lacks tables.", "latchkey-server migrate") { stage in
            let empty = try await stage.server.database()
            try stage.store("keys", stage.server.address(of: empty).revealedText)
        },
        Self("another database", "stores.fingerprint: ", "tenants.demo.keys: ") { stage in
            let other = try await stage.server.database()
            let address = stage.server.address(of: other).revealedText
            _ = try await Stores.migrate(StoreAddress(address))
            try stage.store("keys", address)
        },
        Self(
            "a role without rights", "stores.keys: The role of PostgreSQL lacks rights: ", "latchkey.keys INSERT",
            "--grant"
        ) {
            stage in
            let role = "r\(stage.database)"
            let password = PostgreSQLProcess.password
            try await stage.server.query("CREATE ROLE \(role) LOGIN PASSWORD '\(password)'", in: stage.database)
            try await stage.server.query("GRANT USAGE ON SCHEMA latchkey TO \(role)", in: stage.database)
            try stage.store("keys", stage.server.address(of: stage.database, role: role).revealedText)
        },
        Self(
            "a closed port of Redis",
            "stores.sessions: redis://127.0.0.1:1: Redis cannot be reached: Connection refused."
        ) {
            try $0.store("sessions", "redis://127.0.0.1:1")
        },
        Self(
            "an unknown host of Redis", "stores.sessions: redis://no.such.host.invalid:6379: ", "its name was not found"
        ) {
            try $0.store("sessions", "redis://no.such.host.invalid:6379")
        },
        Self(
            "TLS at a port of Redis without", "Redis does not respond over TLS.",
            "Use the port of Redis's tls-port setting"
        ) { stage in
            let redis = try await stage.ownRedis()
            try stage.store("sessions", "rediss://127.0.0.1:\(redis)")
        },
        Self("a Redis without scripts", "does not know EVALSHA; without it, no limit is enforced", "rename-command") {
            stage in
            let redis = try await stage.ownRedis("--rename-command", "EVALSHA", "hidden")
            try stage.store("sessions", "redis://127.0.0.1:\(redis)")
        },
        Self("a Redis without its clock", "does not know TIME; without it, no limit is enforced", "rename-command") {
            stage in
            let redis = try await stage.ownRedis("--rename-command", "TIME", "hidden")
            try stage.store("sessions", "redis://127.0.0.1:\(redis)")
        },
        Self("a Redis that lacks replicas", "NOREPLICAS", "min-replicas-to-write") { stage in
            let redis = try await stage.ownRedis("--min-replicas-to-write", "1")
            try stage.store("sessions", "redis://127.0.0.1:\(redis)")
        },
        Self("a Redis that is full", "OOM command not allowed", "stores.sessions") { stage in
            let redis = try await stage.ownRedis("--maxmemory", "100kb", "--maxmemory-policy", "noeviction")
            try stage.store("sessions", "redis://127.0.0.1:\(redis)")
        },
        Self("a cluster that is none", "is not a cluster node: ", "Use redis:// for a single server") { stage in
            let redis = try await stage.ownRedis()
            try stage.store("sessions", "redis+cluster://127.0.0.1:\(redis)")
        },
        Self(
            "a cluster without slots", "A cluster node knows no slots.", "Run redis-cli --cluster check"
        ) { stage in
            let redis = try await stage.ownNode()
            try stage.store("sessions", "redis+cluster://127.0.0.1:\(redis)")
        },
        Self("a node of a cluster by itself", "is part of a cluster.", "Use redis+cluster://") { stage in
            let redis = try await stage.ownNode()
            try stage.store("sessions", "redis://127.0.0.1:\(redis)")
        },
        Self("a password file of Redis that is not there", "nowhere.txt") {
            try $0.store("sessions", "redis://127.0.0.1:1?passwordFile=nowhere.txt")
        },
        Self("a password file of Redis that others can read", "word.txt is accessible to other users.") { stage in
            try stage.folder.write("word", to: "word.txt")
            try #require(chmod(stage.folder.file("word.txt").path, 0o644) == 0)
            try stage.store("sessions", "redis://127.0.0.1:1?passwordFile=word.txt")
        },
        Self("Redis that evicts", "its maxmemory-policy is allkeys-lru.", "Set maxmemory-policy noeviction") { stage in
            let redis = try await stage.ownRedis("--maxmemory-policy", "allkeys-lru")
            try stage.store("sessions", "redis://127.0.0.1:\(redis)")
        },
        Self("a wrong password of Redis", "refuses the password.", "Nothing was written.") { stage in
            let redis = try await stage.ownRedis("--requirepass", "right")
            try stage.store("sessions", "redis://:hunter2@127.0.0.1:\(redis)")
        },
        Self("no password for Redis", "requires a password.") { stage in
            let redis = try await stage.ownRedis("--requirepass", "right")
            try stage.store("sessions", "redis://127.0.0.1:\(redis)")
        },
        Self(
            "a user of Redis who lacks commands",
            "The user “node” may not run HSET, ZADD. Run there: ACL SETUSER node +hset +zadd ~latchkey:*"
        ) { try await $0.redisUser("~latchkey:*", "+@all", "-hset", "-zadd") },
        Self(
            "a user of Redis who lacks keys",
            "The user “node” may not read and write all keys that begin with latchkey:.",
            "ACL SETUSER node ~latchkey:*"
        ) { try await $0.redisUser("~other:*", "+@all") },
        Self("a user of Redis who may only read", "may not read and write all keys") {
            try await $0.redisUser("%R~latchkey:*", "+@all")
        },
        Self("a user of Redis who may not ask for the role", "may not run ROLE.", "ACL SETUSER node +role") {
            try await $0.redisUser("~*", "+@all", "-role")
        },
        Self("a replica of Redis", "is a replica, which accepts no changes.") { stage in
            let primary = try await stage.ownRedis()
            let replica = try await stage.ownRedis("--replicaof", "127.0.0.1 \(primary)")
            try stage.store("sessions", "redis://127.0.0.1:\(replica)")
        },
        Self("fewer replicas than writes wait for", "has 0 replicas, and each write waits for 1.") { stage in
            let redis = try await stage.ownRedis()
            try stage.store("sessions", "redis://127.0.0.1:\(redis)?replicas=1")
        },
        Self(
            "a sentinel that is not there", "stores.sessions: The sentinel redis://127.0.0.1:1: Redis cannot be reached"
        ) {
            try $0.store("sessions", "redis+sentinel://127.0.0.1:1/main")
        },
        Self("a sentinel that knows another name", "knows no primary named “other”.") { stage in
            let (primary, port) = (try await stage.ownRedis(), try UnusedPort.any())
            let folder = try TemporaryFolder()
            stage.keep(try await SentinelGroup.sentinel(in: folder, port: port, of: primary))
            stage.keep(folder)
            try stage.store("sessions", "redis+sentinel://127.0.0.1:\(port)/other")
        },
        Self(
            "five faults at once, of form and of content", "tenants.demo.policy: ", "players.port: ",
            "admins[0].role: ",
            "stores.sessions: “mongodb” is not a supported kind of store.", "drainDelay: ",
            "5 faults. Nothing was written."
        ) { stage in
            try stage.folder.edit([
                "tenants.demo.policy": "x", "players.port": 99_999, "admins.0.role": "root", "drainDelay": "soon",
                "stores.sessions": "mongodb://x",
            ])
        },
    ]

    static let all = ofForm + ofFiles + ofAddresses + ofStores
}

/// A dangerous default, and the warnings of the check, the start and the console.
struct DangerousDefault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let place: String
    let spoil: @Sendable (CheckStage) async throws -> Void

    static let all: [Self] = [
        Self(
            testDescription: "sessions in memory beside a database",
            place: "stores.sessions: Slots are kept only by this node"
        ) {
            try $0.store("sessions", "memory")
        },
        Self(testDescription: "a password of Redis", place: "stores.sessions: The password of Redis is in") {
            try await $0.redisUser("~latchkey:*", "+@all")
        },
        Self(testDescription: "the audit in memory", place: "stores.audit: The audit is kept in memory") {
            try $0.store("audit", "memory")
        },
        Self(
            testDescription: "operators without TLS on all addresses",
            place: "operators: The listener accepts operators' keys without TLS"
        ) {
            try $0.folder.edit(["operators.address": "0.0.0.0"])
        },
        Self(
            testDescription: "operators over TLS, and no listener for health",
            place: "operators.certificate: Balancers, probes and Prometheus"
        ) {
            try SelfSigned().serve("operators", of: $0.folder)
        },
        Self(
            testDescription: "an operator of one tenant, and no listener for health",
            place: "admins: Because an operator is limited to some tenants, /metrics"
        ) {
            try $0.folder.edit(["admins.0.tenants": ["demo"]])
        },
        Self(
            testDescription: "everybody is a trusted proxy",
            place: "trustedProxies: 128.0.0.0/1 is far larger than your proxies"
        ) {
            try $0.folder.edit(["trustedProxies": ["0.0.0.0/1", "128.0.0.0/1"]])
        },
        Self(testDescription: "no node's secret", place: "nodeSecret: Each node creates its own") {
            try $0.folder.edit(["nodeSecret": nil])
        },
        Self(
            testDescription: "limits without a word about outages",
            place: "policies demo: While the session store is unavailable"
        ) {
            try $0.folder.edit(["outage": nil], in: "policies/demo.json")
        },
        Self(testDescription: "no copy", place: "stores.copy: Without a copy") {
            try $0.folder.edit(["stores.copy": nil])
        },
        Self(testDescription: "no fingerprint", place: "stores.fingerprint: Any database is accepted") {
            try $0.folder.edit(["stores.fingerprint": nil])
        },
        Self(testDescription: "keys in memory", place: "stores.keys: Keys are kept in memory: each start") { stage in
            try stage.folder.edit(["stores.fingerprint": nil, "stores.keys": "memory", "keyEncryptionKey": nil])
        },
    ]
}
