package import Foundation
import LatchkeyCore

/// What a license server's configuration file states.
///
/// Paths are relative to the file's folder. Secrets never stand in the file: it names files, and environment variables as `env:NAME`.
///
/// Source: `Documentation/LicenseServer.md` §9 and §11.
package struct ServerSettings: Sendable, Equatable {
    /// Where players, packagers and operators are served; each apart from the others, so that none can fill up another's.
    package internal(set) var players = Listener(port: 8443)
    package internal(set) var packagers = Listener(port: 8444)
    package internal(set) var operators = Listener(port: 9443)
    package internal(set) var stores = Stores()
    package internal(set) var keyEncryptionKey = KeyEncryption()
    package internal(set) var licensee = Licensee()
    /// The folder of policies; `nil` for none.
    package internal(set) var policies: String?
    package internal(set) var tenants: [String: TenantSettings] = [:]
    package internal(set) var admins: [Admin] = []
    /// Proxies whose word counts for the client's address, country and certificate.
    package internal(set) var trustedProxies: [AddressRange] = []
    /// The header in which a trusted proxy states the viewer's country.
    package internal(set) var countryHeader: String?
    /// How long `/readyz` says no before connections are refused. Defaults to 5 s.
    package internal(set) var drainDelay = Duration.seconds(5)
    /// Threads for cryptography; `nil` for one per processor.
    package internal(set) var threads: Int?

    /// One address that is listened on.
    package struct Listener: Sendable, Equatable {
        package internal(set) var address = "127.0.0.1"
        package internal(set) var port: Int
        /// The chain, a PEM file; `nil` for plain HTTP behind a proxy.
        package internal(set) var certificate: String?
        /// The private key, a PEM file.
        package internal(set) var privateKey: String?

        init(port: Int) { self.port = port }
    }

    /// Where the server remembers.
    package struct Stores: Sendable, Equatable {
        /// Slots and used tokens.
        package internal(set) var sessions = "memory"
        package internal(set) var keys = "memory"
        package internal(set) var audit = "memory"
    }

    /// Where the key encryption key is.
    package struct KeyEncryption: Sendable, Equatable {
        /// Its name.
        package internal(set) var id = "kek"
        /// A file, or `env:NAME`: 32 bytes as hexadecimal digits or base64.
        package internal(set) var source: String?
        /// The one before, while data keys are wrapped again.
        package internal(set) var formerID: String?
        package internal(set) var formerSource: String?
    }

    /// What the licensee brings.
    package struct Licensee: Sendable, Equatable {
        /// Folders, each with `certificate.der`, `private-key.pem` and `ask.hex`.
        package internal(set) var credentials: [String] = []
        /// A shared library with the derivation; `nil` for test credentials only.
        package internal(set) var derivation: String?
    }

    /// Somebody who operates the server.
    package struct Admin: Sendable, Equatable {
        package internal(set) var name = ""
        /// The SHA-256 of the key, 64 hexadecimal digits.
        package internal(set) var key = ""
        package internal(set) var role = AdminRole.viewer
    }

    package init() {}

    /// Decodes a configuration.
    /// - Throws: `JSONProblems` with the code `configurationInvalid` and every problem by its place.
    package init(json: Data) throws(JSONProblems) {
        self = try Self.form.decode(Array(json), code: "configurationInvalid")
    }

    /// The configuration in its canonical form.
    package var canonicalJSON: Data { Data(Self.form.write(self).canonicalText.utf8) }
}

/// What an operator may do; each role may do what those before it may.
package enum AdminRole: String, Sendable, CaseIterable, Comparable {
    /// Look.
    case viewer
    /// Stop sessions, disable keys, reload.
    case `operator`
    /// Change credentials, key encryption keys and data keys.
    case security

    package static func < (one: Self, other: Self) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }
}

extension ServerSettings {
    static let form: ObjectForm<ServerSettings> = ObjectForm(
        empty: ServerSettings(),
        members: [
            .required("version", \.formVersion, .whole(1...1)),
            .section("players", \.players, Listener.form(8443)),
            .section("packagers", \.packagers, Listener.form(8444)),
            .section("operators", \.operators, Listener.form(9443)), .section("stores", \.stores, Stores.form),
            .section("keyEncryptionKey", \.keyEncryptionKey, KeyEncryption.form),
            .section("licensee", \.licensee, Licensee.form), .optional("policies", \.policies, .text),
            .defaulting("tenants", \.tenants, .members(.name, TenantSettings.form.form), to: [:]),
            .defaulting("admins", \.admins, .list(Admin.form.form), to: []),
            .defaulting("trustedProxies", \.trustedProxies, .list(.addressRange), to: []),
            .optional("countryHeader", \.countryHeader, .name),
            .defaulting("drainDelay", \.drainDelay, .duration(.zero ... .seconds(300)), to: .seconds(5)),
            .optional("threads", \.threads, .whole(1...1_024)),
        ])

    /// The version of the form, of which there is one.
    fileprivate var formVersion: Int {
        get { 1 }
        set {}
    }
}

extension ServerSettings.Listener {
    fileprivate static func form(_ port: Int) -> ObjectForm<Self> {
        ObjectForm(
            empty: Self(port: port),
            members: [
                .defaulting("address", \.address, .text, to: "127.0.0.1"),
                .defaulting("port", \.port, .whole(0...65_535), to: port),
                .optional("certificate", \.certificate, .text), .optional("privateKey", \.privateKey, .text),
            ],
            check: { listener, place, problems in
                guard (listener.certificate == nil) != (listener.privateKey == nil) else { return }
                problems.append(
                    JSONProblem(
                        place, "A certificate and its private key belong together.",
                        remedy: "Give both files, or neither."))
            })
    }
}

extension ServerSettings.Stores {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .defaulting("sessions", \.sessions, .text, to: "memory"), .defaulting("keys", \.keys, .text, to: "memory"),
            .defaulting("audit", \.audit, .text, to: "memory"),
        ])
}

extension ServerSettings.KeyEncryption {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .defaulting("id", \.id, .name, to: "kek"), .optional("source", \.source, .text),
            .optional("formerId", \.formerID, .name), .optional("formerSource", \.formerSource, .text),
        ])
}

extension ServerSettings.Licensee {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .defaulting("credentials", \.credentials, .list(.text), to: []),
            .optional("derivation", \.derivation, .text),
        ])
}

extension ServerSettings.Admin {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("name", \.name, .name), .required("key", \.key, .sha256),
            .defaulting("role", \.role, .word, to: .viewer),
        ])
}
