package import Foundation
import LatchkeyCore
package import LatchkeyForms
package import LatchkeyLicensees
package import LatchkeyVault

/// A license server's configuration file.
///
/// Paths are relative to the file's folder. Secrets are never in the file: it names files, and environment variables as `env:NAME`.
/// `form` explains each member.
///
/// Source: `Documentation/LicenseServer.md` §9 and §11.
package struct ServerSettings: Sendable, Equatable {
    package internal(set) var players = Listener(port: 8443)
    package internal(set) var packagers = Listener(port: 8444)
    package internal(set) var operators = Listener(port: 8445)
    package internal(set) var health: Listener?
    package internal(set) var stores = Stores()
    package internal(set) var keyEncryptionKey: KeySource?
    package internal(set) var formerKeyEncryptionKey: KeySource?
    package internal(set) var nextKeyEncryptionKey: KeySource?
    package internal(set) var licensee = LicenseeConfiguration()
    package internal(set) var nodeSecret: KeySource?
    package internal(set) var node: String?
    package internal(set) var policies: String?
    package internal(set) var tenants: [String: TenantSettings] = [:]
    package internal(set) var admins: [Admin] = []
    package internal(set) var trustedProxies: [AddressRange] = []
    package internal(set) var countryHeader: String?
    package internal(set) var limits = Limits()
    package internal(set) var drainDelay = Duration.seconds(5)
    package internal(set) var keepAlive: Duration?
    package internal(set) var threads: Int?
    package internal(set) var cryptoMB = CryptoMB.auto
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
        package internal(set) var certificate: String?
        package internal(set) var privateKey: String?
        package internal(set) var openID: OpenID?
        package internal(set) var identityProxy: IdentityProxy?

        /// Whether browsers come over TLS, here or at a proxy in front.
        package var isReachedOverTLS: Bool { certificate != nil || openID?.redirectBase.hasPrefix("https:") == true }

        init(port: Int) { self.port = port }
    }

    /// Where the server remembers.
    package struct Stores: Sendable, Equatable {
        package internal(set) var sessions = "memory"
        package internal(set) var regions: [String: String] = [:]
        package internal(set) var region: String?
        package internal(set) var keys = "memory"
        package internal(set) var audit = "memory"
        package internal(set) var copy: String?
        package internal(set) var copyRows = 200_000
        package internal(set) var fingerprint: DatabaseFingerprint?
        package internal(set) var sessionMilliseconds = 50
    }

    /// How many requests a second players may send to one node; 0 for any number. A burst after a rest may be five times as large.
    package struct Limits: Sendable, Equatable {
        package internal(set) var perAddress = 1_000
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
        package internal(set) var id: String?
        package internal(set) var file: String?
        package internal(set) var variable: String?
        package internal(set) var wrapper: String?
        package internal(set) var pinFile: String?
        package internal(set) var pinVariable: String?
    }

    /// An operator of the server.
    package struct Admin: Sendable, Equatable {
        package internal(set) var name = ""
        package internal(set) var key = ""
        package internal(set) var role = AdminRole.viewer
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

    /// Every member of a configuration, as a reference lists it.
    package static var entries: [MemberEntry] { form.entries }
    /// The path of every member without members: `tenants.*.packagers[].name`. For tests that each one has an effect.
    package static var memberPaths: [String] { form.memberPaths }

    /// The configuration in its canonical form.
    package var canonicalJSON: Data { Data(Self.form.write(self).canonicalText.utf8) }
}

extension ServerSettings {
    static let form: ObjectForm<ServerSettings> = ObjectForm(
        empty: ServerSettings(),
        members: [
            .required("version", \.formVersion, .whole(1...1)).explained("The version of this form."),
            .section("players", \.players, Listener.form(8443))
                .explained(
                    "The listener for players. Packagers and operators have their own, so that none can fill up another's."
                ),
            .section("packagers", \.packagers, Listener.form(8444)).explained("The listener for packagers."),
            .section(
                "operators", \.operators,
                Listener.form(
                    8445,
                    [
                        .optional("openID", \.openID, OpenID.form.form).explained(
                            "An OpenID provider at which operators sign in: [Operators.md](Operators.md#1-single-sign-on-by-openid-connect). Excludes `identityProxy`. All members take effect with a reload, also for existing sessions."
                        ),
                        .optional("identityProxy", \.identityProxy, IdentityProxy.form.form).explained(
                            "A proxy that identifies operators in a header: [Operators.md](Operators.md#2-a-proxy-that-has-asked). Excludes `openID`."
                        ),
                    ])
            ).explained("The listener for operators: the console and the admin API, and also health and metrics."),
            .optional("health", \.health, Listener.plainForm(8446).form).explained(
                "A fourth listener, with only health and metrics, in plain HTTP and without keys, for internal use: [Operations.md](Operations.md#1-look). None by default."
            ),
            .section("stores", \.stores, Stores.form).explained(
                "The databases. A change takes effect after a restart. An address with a password is only accepted in a file that no other user can read (`chmod 600`, or below `licensee.secretMounts`); a password may be in a separate file, which the address names as `passfile` for PostgreSQL, and as `passwordFile` for Redis."
            ),
            .optional("keyEncryptionKey", \.keyEncryptionKey, KeySource.form.form).explained(
                "The key encryption key in force, the same on all nodes. It may be absent only if keys are kept in memory."
            ),
            .optional("formerKeyEncryptionKey", \.formerKeyEncryptionKey, KeySource.form.form).explained(
                "The key encryption key before, which opens the data keys that it wrapped until [they are rewrapped](Credentials.md)."
            ),
            .optional("nextKeyEncryptionKey", \.nextKeyEncryptionKey, KeySource.form.form).explained(
                "The next key encryption key: it opens data keys that another node has already wrapped with it, and wraps none on this node."
            ),
            .optional("nodeSecret", \.nodeSecret, KeySource.form.form).explained(
                "The secret that signs heartbeats and operators' sessions, and creates viewers' pseudonyms in logs; the same on all nodes. Without it each start creates a new one. A new secret ends all sessions of operators, and heartbeats."
            ),
            .optional("node", \.node, .name).explained(
                "The node's name in logs, audit, record and the names of its requests, for two nodes on one host. Defaults to the host's name."
            ),
            .section("licensee", \.licensee, LicenseeConfiguration.form).explained(
                "The FairPlay credentials and the licensee's derivation: [Licensees.md](../Licensees.md#2-configuration-and-checks)."
            ),
            .optional("policies", \.policies, .text).explained(
                "The folder of [policies](Policies.md), with a file `NAME.json` for each. By default the server has no policies."
            ),
            .defaulting("tenants", \.tenants, .members(.name, TenantSettings.form.form), to: [:])
                .explained("The tenants by name, which is in their addresses: `/t/NAME/…`."),
            .defaulting("admins", \.admins, .list(Admin.form.form), to: []).explained(
                "The operators that identify themselves by a key. An operator has two entries while the key is being replaced. This command makes a key, and prints its digest: `openssl rand -hex 16 | tee admin.txt | tr -d '\\n' | sha256sum`."
            ),
            .defaulting("trustedProxies", \.trustedProxies, .distinct(.addressRange), to: []).explained(
                "The proxies that are trusted to state a client's address, country and certificate. Without proxies an address may have 1,024 connections, with them 16,384, because all of them may come from one."
            ),
            .optional("countryHeader", \.countryHeader, .name)
                .explained("The header in which a trusted proxy states the viewer's country, such as `CF-IPCountry`."),
            .section("limits", \.limits, Limits.form).explained(
                "Players' requests per second to one node; 0 means no limit. Five times as many may arrive together after a pause."
            ),
            .defaulting("drainDelay", \.drainDelay, .duration(.zero ... .seconds(300)), to: .seconds(5)).explained(
                "The time for which `/readyz` fails before a stopping node refuses connections. Use more than two of the balancer's probes."
            ),
            .optional("keepAlive", \.keepAlive, .duration(.seconds(1) ... .seconds(3_600))).explained(
                "The time that a connection may wait for its next request. Defaults to 15 s, or to [75 s with `trustedProxies`](Operations.md#6-the-edge)."
            ),
            .optional("threads", \.threads, .whole(1...1_024))
                .explained("Threads for cryptography. Defaults to one per processor."),
            .defaulting("cryptoMB", \.cryptoMB, .cryptoMB, to: .auto).explained(
                "[Intel's crypto_mb](Speed.md), which opens eight licenses together. `auto` uses `libcrypto_mb.so.13` if the system's loader finds it; otherwise the log says so once, at level `info`. A path with a `/` names the library, or its folder; its dependencies from Intel's compiler are loaded from the same folder. If it cannot be used, the server does not start, and `run --check` gives the reason. A library that other users can modify is rejected, because it sees private keys; so is a dependency in its folder. `off` does not use it. A change takes effect after a restart."
            ),
            .optional("record", \.record, Record.form.form).explained(
                "The [record](Record.md) of every license. None by default. A change takes effect after a restart."),
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
                .defaulting("address", \.address, .text, to: "127.0.0.1").explained("The address to listen on."),
                .defaulting("port", \.port, .whole(0...65_535), to: port)
                    .explained("The port, different for each listener; 0 means any free one."),
            ])
    }

    fileprivate static func form(_ port: Int, _ more: [Member<Self>] = []) -> ObjectForm<Self> {
        ObjectForm(
            empty: Self(port: port),
            members: plainForm(port).members + [
                .optional("certificate", \.certificate, .text).explained(
                    "The file of the certificate chain, in PEM form. Without it the listener uses plain HTTP, behind a proxy."
                ),
                .optional("privateKey", \.privateKey, .text)
                    .explained("The file of its private key, in PEM form, of mode 0600."),
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
            .defaulting("perAddress", \.perAddress, .whole(0...1_000_000), to: 1_000).explained(
                "From one range of addresses: a /24, or a /56 of version 6. Behind a trusted proxy the client's address counts."
            ),
            .defaulting("perTenant", \.perTenant, .whole(0...10_000_000), to: 0).explained("To one tenant."),
        ])
}

extension ServerSettings.KeySource {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("id", \.id, .name)
                .explained("The key's name. Defaults to one derived from the bytes by a hash."),
            .optional("file", \.file, .text).explained(
                "The file of the 32 bytes: as they are, in base64 or in hexadecimal digits. Required without `variable`."
            ),
            .optional("variable", \.variable, .name)
                .explained("The environment variable of the bytes, in the same forms. Excludes `file`."),
            .optional("wrapper", \.wrapper, .text).explained(
                "The `pkcs11:` address of the private key that opens the file: [Licensees.md](../Licensees.md#4-the-key-encryption-key). Without it the file has the bytes themselves."
            ),
            .optional("pinFile", \.pinFile, .text).explained("The file of the token's PIN."),
            .optional("pinVariable", \.pinVariable, .name)
                .explained("The environment variable of the token's PIN, in place of a file."),
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
