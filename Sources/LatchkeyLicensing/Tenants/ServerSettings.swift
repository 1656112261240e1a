package import Foundation
import LatchkeyCore
package import LatchkeyForms
package import LatchkeyLicensees
package import LatchkeyVault

/// A license server's configuration file.
///
/// Paths are relative to the file's folder. Secrets are never in the file: it names files, and environment variables as `env:NAME`.
///
/// Source: `Documentation/LicenseServer.md` §9 and §11.
package struct ServerSettings: Sendable, Equatable {
    /// Where players, packagers and operators are served; each apart from the others, so that none can fill up another's.
    package internal(set) var players = Listener(port: 8443)
    package internal(set) var packagers = Listener(port: 8444)
    package internal(set) var operators = Listener(port: 8445)
    /// Where health and metrics are served without keys and TLS; `nil` for the operators' listener alone.
    package internal(set) var health: Listener?
    package internal(set) var stores = Stores()
    /// The key encryption key. It may be absent only where keys are kept in memory.
    package internal(set) var keyEncryptionKey: KeySource?
    /// The former key encryption key, which opens the data keys that it wrapped until they are wrapped again.
    package internal(set) var formerKeyEncryptionKey: KeySource?
    /// The next key encryption key: it opens data keys that another node has already wrapped with it, and wraps nothing here.
    package internal(set) var nextKeyEncryptionKey: KeySource?
    package internal(set) var licensee = LicenseeConfiguration()
    /// The secret that signs heartbeats and names viewers in logs, the same on all nodes; a new one at each start if absent.
    package internal(set) var nodeSecret: KeySource?
    /// The node's name in logs, audit, record and the names of its requests; `nil` for the host's name.
    package internal(set) var node: String?
    /// The folder of policies; `nil` for none.
    package internal(set) var policies: String?
    package internal(set) var tenants: [String: TenantSettings] = [:]
    package internal(set) var admins: [Admin] = []
    /// Proxies whose statements count for the client's address, country and certificate.
    package internal(set) var trustedProxies: [AddressRange] = []
    /// The header in which a trusted proxy states the viewer's country.
    package internal(set) var countryHeader: String?
    package internal(set) var limits = Limits()
    /// How long `/readyz` says no before connections are refused. Defaults to 5 s.
    package internal(set) var drainDelay = Duration.seconds(5)
    /// How long a connection may wait for its next request; `nil` for 15 s, or for 75 s where there are trusted proxies.
    package internal(set) var keepAlive: Duration?
    /// Threads for cryptography; `nil` for one per processor.
    package internal(set) var threads: Int?
    /// Whether crypto_mb opens several licenses together. Defaults to yes if the system's loader finds it.
    package internal(set) var cryptoMB = CryptoMB.auto
    /// The record of licenses; `nil` keeps none.
    package internal(set) var record: Record?

    /// Where crypto_mb is.
    package enum CryptoMB: Sendable, Equatable {
        /// Where the system's loader finds it; without it, licenses are opened one by one.
        case auto
        /// Not used.
        case off
        /// The library, or its folder. A start without it is an error.
        case path(String)
    }

    /// One address that is listened on.
    package struct Listener: Sendable, Equatable {
        package internal(set) var address = "127.0.0.1"
        package internal(set) var port: Int
        /// The chain, a PEM file; `nil` for plain HTTP behind a proxy.
        package internal(set) var certificate: String?
        /// The private key, a PEM file.
        package internal(set) var privateKey: String?
        /// How operators sign in, besides by key: on the operators' listener only, and at most one of the two.
        package internal(set) var openID: OpenID?
        package internal(set) var identityProxy: IdentityProxy?

        /// Whether browsers come over TLS, here or at a proxy in front.
        package var isReachedOverTLS: Bool { certificate != nil || openID?.redirectBase.hasPrefix("https:") == true }

        init(port: Int) { self.port = port }
    }

    /// Where the server remembers.
    package struct Stores: Sendable, Equatable {
        /// Slots and used tokens, where they are in one place.
        package internal(set) var sessions = "memory"
        /// Where slots and used tokens are by regions' names; each account is at home in one of them. Empty for one place.
        package internal(set) var regions: [String: String] = [:]
        /// The region of this node; `nil` without regions.
        package internal(set) var region: String?
        package internal(set) var keys = "memory"
        package internal(set) var audit = "memory"
        /// `sqlite:PATH`: the node's own copy of the store of keys; `nil` for none.
        package internal(set) var copy: String?
        /// The most keys of the copy, 1,000 to 10,000,000.
        package internal(set) var copyRows = 200_000
        /// The fingerprint of the keys' database; `nil` accepts any database.
        package internal(set) var fingerprint: DatabaseFingerprint?
        /// How long the store of sessions may take, 10 to 10,000; then the policies' outage rule decides.
        package internal(set) var sessionMilliseconds = 50
    }

    /// How many requests a second players may send to one node; 0 for any number. A burst after a rest may be five times as large.
    package struct Limits: Sendable, Equatable {
        /// From one range of addresses: a /24, or a /56 of version 6. Behind a trusted proxy the client's address counts.
        package internal(set) var perAddress = 1_000
        /// To one tenant.
        package internal(set) var perTenant = 0

        /// The limits for a limiter; a scope without one is not limited.
        package var rates: [RateScope: RateLimit] {
            var rates: [RateScope: RateLimit] = [:]
            for (scope, count) in [(RateScope.address, perAddress), (.tenant, perTenant)] where count > 0 {
                rates[scope] = RateLimit(count, per: .seconds(1), burst: count * 5)
            }
            return rates
        }
    }

    /// Where 32 secret bytes are: in a file, or in an environment variable, as they are, in base64 or in hexadecimal digits.
    package struct KeySource: Sendable, Equatable {
        /// Its name. Defaults to one derived from the bytes by a hash.
        package internal(set) var id: String?
        package internal(set) var file: String?
        package internal(set) var variable: String?
        /// The `pkcs11:` address of the private key that opens the file; `nil` if the file has the bytes themselves.
        package internal(set) var wrapper: String?
        /// The file of the token's PIN.
        package internal(set) var pinFile: String?
        /// The environment variable of the token's PIN.
        package internal(set) var pinVariable: String?
    }

    /// An operator of the server.
    package struct Admin: Sendable, Equatable {
        package internal(set) var name = ""
        /// The SHA-256 of the key, 64 hexadecimal digits.
        package internal(set) var key = ""
        package internal(set) var role = AdminRole.viewer
        /// The tenants that they see and change. Defaults to the whole server.
        package internal(set) var tenants = TenantScope.all

        /// The operator that sends requests with this key.
        package var identity: Operator { Operator(name: name, role: role, tenants: tenants) }
    }

    package init() {}

    /// The listeners by name.
    package var listeners: [(name: String, settings: Listener)] {
        [("players", players), ("packagers", packagers), ("operators", operators)]
            + (health.map { [("health", $0)] } ?? [])
    }

    /// Decodes a configuration.
    /// - Throws: `JSONProblems` with the code `configurationInvalid` and every problem by its place.
    package init(json: Data) throws(JSONProblems) {
        self = try Self.form.decode(Array(json), code: "configurationInvalid")
    }

    /// Decodes the valid parts of a configuration, for a check that continues with them; invalid parts have their defaults.
    /// - Returns: the configuration and every problem by its place.
    /// - Throws: `JSONProblems` if it is not a JSON object.
    package static func whatFits(
        of json: Data
    ) throws(JSONProblems) -> (settings: ServerSettings, problems: [JSONProblem]) {
        let (settings, problems) = try form.decodeWhatFits(Array(json), code: "configurationInvalid")
        return (settings, problems)
    }

    /// The files and folders that a reload reads, as the configuration names them.
    package var files: [String] {
        let keys = [keyEncryptionKey, formerKeyEncryptionKey, nextKeyEncryptionKey].map { $0?.file }
        let listeners = listeners.map(\.settings).flatMap {
            [$0.certificate, $0.privateKey, $0.openID?.clientSecretFile, $0.openID?.authorities]
        }
        return ([policies] + keys + listeners).compactMap { $0 } + licensee.files + tenantFiles
    }

    /// The files that tenants name.
    package var tenantFiles: [String] { tenants.values.flatMap(\.files) }

    /// Whether some operator is limited to some tenants, so that output that names tenants needs a key.
    package var hasOperatorsOfSomeTenants: Bool {
        (admins.map(\.tenants) + operators.grants.map(\.tenants)).contains { !$0.isAll }
    }

    /// The path of every member of a configuration: `tenants.*.packagers[].name`. For tests that each one has an effect.
    package static var memberPaths: [String] { form.memberPaths }

    /// The configuration in its canonical form.
    package var canonicalJSON: Data { Data(Self.form.write(self).canonicalText.utf8) }
}

extension ServerSettings {
    static let form: ObjectForm<ServerSettings> = ObjectForm(
        empty: ServerSettings(),
        members: [
            .required("version", \.formVersion, .whole(1...1)),
            .section("players", \.players, Listener.form(8443)),
            .section("packagers", \.packagers, Listener.form(8444)),
            .section(
                "operators", \.operators,
                Listener.form(
                    8445,
                    [
                        .optional("openID", \.openID, OpenID.form.form),
                        .optional("identityProxy", \.identityProxy, IdentityProxy.form.form),
                    ])), .optional("health", \.health, Listener.plainForm(8446).form),
            .section("stores", \.stores, Stores.form),
            .optional("keyEncryptionKey", \.keyEncryptionKey, KeySource.form.form),
            .optional("formerKeyEncryptionKey", \.formerKeyEncryptionKey, KeySource.form.form),
            .optional("nextKeyEncryptionKey", \.nextKeyEncryptionKey, KeySource.form.form),
            .optional("nodeSecret", \.nodeSecret, KeySource.form.form), .optional("node", \.node, .name),
            .section("licensee", \.licensee, LicenseeConfiguration.form), .optional("policies", \.policies, .text),
            .defaulting("tenants", \.tenants, .members(.name, TenantSettings.form.form), to: [:]),
            .defaulting("admins", \.admins, .list(Admin.form.form), to: []),
            .defaulting("trustedProxies", \.trustedProxies, .distinct(.addressRange), to: []),
            .optional("countryHeader", \.countryHeader, .name), .section("limits", \.limits, Limits.form),
            .defaulting("drainDelay", \.drainDelay, .duration(.zero ... .seconds(300)), to: .seconds(5)),
            .optional("keepAlive", \.keepAlive, .duration(.seconds(1) ... .seconds(3_600))),
            .optional("threads", \.threads, .whole(1...1_024)),
            .defaulting("cryptoMB", \.cryptoMB, .cryptoMB, to: .auto),
            .optional("record", \.record, Record.form.form),
        ],
        check: { settings, place, problems in
            Admin.check(settings.admins, settings.tenants.keys, place.member("admins"), &problems)
            settings.operators.checkSignOn(settings.tenants.keys, place.member("operators"), &problems)
            let listeners = settings.listeners
            for (index, (name, listener)) in listeners.enumerated() {
                guard let (other, _) = listeners.prefix(index).first(where: { $0.1.overlaps(listener) }) else {
                    continue
                }
                problems.append(
                    JSONProblem(
                        place.member(name).member("port"), "The listeners \(other) and \(name) have the same port.",
                        remedy: "Give each listener a unique port."))
            }
            if let id = settings.keyEncryptionKey?.id, id == settings.formerKeyEncryptionKey?.id {
                problems.append(
                    JSONProblem(
                        place.member("formerKeyEncryptionKey").member("id"), "Both keys have the name “\(id)”.",
                        remedy: "Give the new key a unique name."))
            }
        })

    /// The only version of the form.
    fileprivate var formVersion: Int {
        get { 1 }
        set {}
    }
}

extension ServerSettings.Listener {
    /// Whether the server cannot listen on both. Port 0 is a free one each time.
    fileprivate func overlaps(_ other: Self) -> Bool {
        let everywhere = ["0.0.0.0", "::"]
        return port != 0 && port == other.port
            && (address == other.address || everywhere.contains(address) || everywhere.contains(other.address))
    }

    /// An address alone, for plain HTTP.
    fileprivate static func plainForm(_ port: Int) -> ObjectForm<Self> {
        ObjectForm(
            empty: Self(port: port),
            members: [
                .defaulting("address", \.address, .text, to: "127.0.0.1"),
                .defaulting("port", \.port, .whole(0...65_535), to: port),
            ])
    }

    fileprivate static func form(_ port: Int, _ more: [Member<Self>] = []) -> ObjectForm<Self> {
        ObjectForm(
            empty: Self(port: port),
            members: plainForm(port).members + [
                .optional("certificate", \.certificate, .text), .optional("privateKey", \.privateKey, .text),
            ] + more,
            check: { listener, place, problems in
                guard (listener.certificate == nil) != (listener.privateKey == nil) else { return }
                problems.append(
                    JSONProblem(
                        place, "A certificate and its private key must be set together.",
                        remedy: "Set both files, or neither."))
            })
    }
}

extension ServerSettings.Stores {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .defaulting("sessions", \.sessions, .text, to: "memory"),
            .defaulting("regions", \.regions, .members(.name, .text), to: [:]), .optional("region", \.region, .name),
            .defaulting("keys", \.keys, .text, to: "memory"),
            .defaulting("audit", \.audit, .text, to: "memory"), .optional("copy", \.copy, .text),
            .defaulting("copyRows", \.copyRows, .whole(1_000...10_000_000), to: 200_000),
            .optional("fingerprint", \.fingerprint, .fingerprint),
            .defaulting("sessionMilliseconds", \.sessionMilliseconds, .whole(10...10_000), to: 50),
        ],
        check: { stores, place, problems in
            func problem(_ member: String, _ what: String, _ remedy: String) {
                problems.append(JSONProblem(place.member(member), what, remedy: remedy))
            }
            let names = stores.regions.keys.sorted()
            if stores.regions.isEmpty {
                guard stores.region != nil else { return }
                return problem(
                    "region", "There are no regions.", "Add their stores to “regions”, or remove this member.")
            }
            if stores.region.map({ stores.regions[$0] == nil }) ?? true {
                problem(
                    "region", "The node's region is not one of \(names.joined(separator: ", ")).",
                    "Name the region in which this node runs.")
            }
            if stores.sessions != "memory" {
                problem("sessions", "Sessions are kept in the regions' stores.", "Omit the member.")
            }
            for name in names where names.contains(where: { $0 < name && stores.regions[$0] == stores.regions[name] }) {
                problems.append(
                    JSONProblem(
                        place.member("regions").member(name), "Two regions have the same store.",
                        remedy: "Give each region a unique store."))
            }
        })
}

extension JSONForm where Value == DatabaseFingerprint {
    fileprivate static let fingerprint = JSONForm(
        text: "32 hexadecimal digits", read: { DatabaseFingerprint($0) }, write: \.description)
}

extension JSONForm where Value == ServerSettings.CryptoMB {
    fileprivate static let cryptoMB = JSONForm(
        text: "auto, off, or a path of 1 to 4096 characters with a “/”",
        read: { text in
            switch text {
            case "auto": .auto
            case "off": .off
            default: text.contains("/") && text.count <= 4_096 ? .path(text) : nil
            }
        },
        write: { value in
            switch value {
            case .auto: "auto"
            case .off: "off"
            case .path(let path): path
            }
        })
}

extension ServerSettings.Limits {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .defaulting("perAddress", \.perAddress, .whole(0...1_000_000), to: 1_000),
            .defaulting("perTenant", \.perTenant, .whole(0...10_000_000), to: 0),
        ])
}

extension ServerSettings.KeySource {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("id", \.id, .name), .optional("file", \.file, .text), .optional("variable", \.variable, .name),
            .optional("wrapper", \.wrapper, .text), .optional("pinFile", \.pinFile, .text),
            .optional("pinVariable", \.pinVariable, .name),
        ],
        check: { source, place, problems in
            if (source.file == nil) == (source.variable == nil) {
                problems.append(
                    JSONProblem(
                        place, "It must name either a file or a variable.",
                        remedy: "Name the file or the environment variable that holds the bytes."))
            } else if source.wrapper != nil, source.file == nil {
                problems.append(
                    JSONProblem(
                        place, "A key in a token can only open a file, but a variable is named.",
                        remedy: "Name the file with the wrapped key encryption key."))
            }
        })
}
