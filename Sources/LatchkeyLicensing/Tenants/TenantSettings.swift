import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyLicensees
package import LatchkeyPackaging
package import LatchkeyVault

/// The configuration of one tenant.
///
/// Source: `Documentation/LicenseServer.md` §1 and §5.
package struct TenantSettings: Sendable, Equatable {
    /// Its own FairPlay credentials; `nil` for the server's.
    package internal(set) var licensee: LicenseeConfiguration?
    /// Its limits. Defaults to none.
    package internal(set) var limits = Limits()
    /// The name of the tenant's policy; `nil` grants without limits whatever a token is good for.
    package internal(set) var policy: String?
    /// The key URIs that packagers get, and that players send back.
    package internal(set) var keyURI = KeyURITemplate.standard
    /// The key URIs of AES-128, which answer with the key; `nil` refuses AES-128 to packagers.
    package internal(set) var clearKeyURI: KeyURITemplate?
    /// Whether browsers get keys through Clear Key, which protects nothing on the device. Defaults to no.
    package internal(set) var allowsClearKey = false
    /// Who may take slots for licenses that another service makes. Defaults to no one.
    package internal(set) var slots = Slots.off
    /// Where keys come from.
    package internal(set) var keys = TenantVault.Origin.derived
    /// The treatment of a license for a key without a row in the store. Defaults to a refusal.
    package internal(set) var unlisted = TenantVault.Unlisted.refuse
    package internal(set) var tokens = Tokens()
    /// The APIs of vendors that its apps speak to. Defaults to none.
    package internal(set) var vendors = TenantVendors()
    /// Who may fetch and import keys.
    package internal(set) var packagers: [Caller] = []
    /// Who may sign common-encryption requests, by the signer's name.
    package internal(set) var signers: [String: Signer] = [:]
    /// Whether encryptors get keys in clear, under TLS; otherwise they have to send certificates. Defaults to yes.
    package internal(set) var allowsPlainKeys = true
    /// The SHA-256 of the only certificates that keys are encrypted to, 64 hexadecimal digits each; none takes every certificate.
    package internal(set) var recipients: Set<String> = []
    /// The recipients of encrypted keys that come in by CPIX. Defaults to none: keys come in clear.
    package internal(set) var importRecipients: [ImportRecipient] = []
    /// The provider's name at Widevine.
    package internal(set) var widevineProvider: String?
    /// Where PlayReady licenses are.
    package internal(set) var playReadyURL: String?
    /// The operator's own service, which is asked whether a viewer may have a content; `nil` if tokens say it all.
    package internal(set) var callout: Callout?
    /// Web origins that may ask; `*` is every one. Defaults to none.
    package internal(set) var origins: Set<String> = []

    /// Who may take slots for licenses that another service makes.
    package enum Slots: String, Sendable, CaseIterable {
        case off
        /// Callers with the right, for viewers whose tokens they bring.
        case services
        /// Players with their viewers' tokens, too.
        case players

        func takes(isService: Bool) -> Bool { self == .players || self == .services && isService }
    }

    /// The tenant's limits; `nil` means unlimited.
    package struct Limits: Sendable, Equatable {
        /// Requests a second that players may send to one node, in place of the server's `limits.perTenant`; five times as many after a rest.
        package internal(set) var requestsPerSecond: Int?
        /// Slots in use at the same time, on all nodes.
        package internal(set) var sessions: Int?
        /// Content keys in the store.
        package internal(set) var keys: Int?
        /// Licenses in a day of UTC, on all nodes.
        package internal(set) var licensesPerDay: Int?

        /// The bound of a limit; `nil` without one.
        package subscript(limit: TenantLimit) -> Int? {
            switch limit {
            case .requestsPerSecond: requestsPerSecond
            case .sessions: sessions
            case .keys: keys
            case .licensesPerDay: licensesPerDay
            }
        }

        /// The rate of requests, for a limiter.
        package var rate: RateLimit? {
            requestsPerSecond.map { RateLimit($0, per: .seconds(1), burst: $0 * 5) }
        }
    }

    /// The tenant's tokens.
    package struct Tokens: Sendable, Equatable {
        /// A JSON web key set, or public keys in PEM: a file's path, or an https address. `nil` accepts no token.
        package internal(set) var keys: String?
        /// How often a set at an address is fetched. Defaults to 5 minutes.
        package internal(set) var refresh = Duration.seconds(300)
        /// The algorithms that its keys may be for; empty for all. Keys of RSA without an “alg” are for those of them, else for RS256.
        package internal(set) var algorithms: [TokenAlgorithm] = []
        package internal(set) var audiences: [String] = []
        package internal(set) var issuers: [String] = []
        package internal(set) var type: String?
        package internal(set) var leeway = Duration.seconds(30)
        package internal(set) var longestLife = Duration.seconds(600)

        /// The rules for the verifier.
        package var rules: TokenRules {
            TokenRules(audiences: audiences, issuers: issuers, type: type, leeway: leeway, longestLife: longestLife)
        }
    }

    /// The operator's own service.
    package struct Callout: Sendable, Equatable {
        /// An https address, or http on loopback.
        package internal(set) var url = ""
        /// The file of the bearer token that it wants; `nil` for none.
        package internal(set) var token: String?
        /// How long it may take. Defaults to 1 s.
        package internal(set) var timeout = Duration.seconds(1)
        /// How long an answer counts. Defaults to 5 s.
        package internal(set) var memory = Duration.seconds(5)
    }

    /// A program that identifies itself by a key or a certificate.
    package struct Caller: Sendable, Equatable {
        package internal(set) var name = ""
        /// The SHA-256 of its API key, 64 hexadecimal digits.
        package internal(set) var apiKey: String?
        /// The SHA-256 of `USER:PASSWORD` of its Basic authorization, 64 hexadecimal digits.
        package internal(set) var basic: String?
        /// The SHA-256 of its client certificate, 64 hexadecimal digits.
        package internal(set) var certificate: String?
        package internal(set) var rights: Set<CallerRight> = [.readSPEKE, .readCommonEncryption]
    }

    /// A signer of common-encryption requests.
    package struct Signer: Sendable, Equatable {
        /// The file of the AES key: 64 hexadecimal digits.
        package internal(set) var key = ""
        /// The IV, 32 hexadecimal digits.
        package internal(set) var iv = ""
    }

    /// A certificate that others encrypt keys to, and its private key.
    package struct ImportRecipient: Sendable, Equatable {
        /// The certificate's file, in DER or PEM form.
        package internal(set) var certificate = ""
        /// The private key's file, in PEM form.
        package internal(set) var key = ""
    }

    package init() {}
}

extension TenantSettings {
    /// The files that it names.
    var files: [String] {
        let keySet = tokens.keys.flatMap { $0.contains("://") ? nil : $0 }
        return [keySet, callout?.token].compactMap { $0 } + signers.values.map(\.key) + vendors.files
            + importRecipients.flatMap { [$0.certificate, $0.key] } + (licensee?.files ?? [])
    }

    /// How its vault works.
    package var vault: TenantVault.Settings {
        var vault = TenantVault.Settings()
        (vault.origin, vault.unlisted, vault.mostRows) = (keys, unlisted, limits.keys)
        return vault
    }

    /// A demonstration's own tenant. Its players may ask for keys that were never packaged.
    package static func demonstration(keySet: String, packagerKey: String) -> TenantSettings {
        var settings = TenantSettings()
        settings.policy = "demo"
        settings.tokens.keys = keySet
        settings.tokens.longestLife = .seconds(86_400)
        settings.allowsClearKey = true
        settings.unlisted = .derive
        settings.packagers = [Caller(name: "demo", apiKey: packagerKey, rights: CallerRight.all)]
        settings.origins = ["*"]
        return settings
    }

    static let form: ObjectForm<TenantSettings> = ObjectForm(
        empty: TenantSettings(),
        members: [
            .optional("licensee", \.licensee, LicenseeConfiguration.form.form),
            .section("limits", \.limits, Limits.form), .optional("policy", \.policy, .name),
            .defaulting("keyURI", \.keyURI, .keyURITemplate, to: .standard),
            .optional("clearKeyURI", \.clearKeyURI, .keyURITemplate),
            .defaulting("clearKey", \.allowsClearKey, .flag, to: false),
            .defaulting("slots", \.slots, .word, to: .off), .defaulting("keys", \.keys, .word, to: .derived),
            .defaulting("unlisted", \.unlisted, .word, to: .refuse), .section("tokens", \.tokens, Tokens.form),
            .section("vendors", \.vendors, TenantVendors.form),
            .defaulting("packagers", \.packagers, .list(Caller.form.form), to: []),
            .defaulting("signers", \.signers, .members(.name, Signer.form.form), to: [:]),
            .defaulting("plainKeys", \.allowsPlainKeys, .flag, to: true),
            .defaulting("recipients", \.recipients, .distinct(.sha256), to: []),
            .defaulting("importRecipients", \.importRecipients, .list(ImportRecipient.form.form), to: []),
            .optional("callout", \.callout, Callout.form.form),
            .optional("widevineProvider", \.widevineProvider, .text),
            .optional("playReadyURL", \.playReadyURL, .text),
            .defaulting("origins", \.origins, .distinct(.text), to: []),
        ],
        check: { tenant, place, problems in
            Caller.check(tenant.packagers, place.member("packagers"), &problems)
            for (index, recipient) in tenant.importRecipients.enumerated()
            where tenant.importRecipients.prefix(index).contains(where: { $0.certificate == recipient.certificate }) {
                problems.append(.twice(place.member("importRecipients").element(index)))
            }
            guard tenant.unlisted == .derive, tenant.keys == .stored else { return }
            problems.append(
                JSONProblem(
                    place.member("unlisted"), "This tenant's keys are stored, and stored keys cannot be derived.",
                    remedy: "Remove the member, or derive the tenant's keys."))
        })
}

extension TenantSettings.Tokens {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("keys", \.keys, .text), .defaulting("refresh", \.refresh, .duration(), to: .seconds(300)),
            .defaulting("algorithms", \.algorithms, .distinct(.tokenAlgorithm), to: []),
            .defaulting("audiences", \.audiences, .distinct(.text), to: []),
            .defaulting("issuers", \.issuers, .distinct(.text), to: []), .optional("type", \.type, .text),
            .defaulting("leeway", \.leeway, .duration(.zero ... .seconds(300)), to: .seconds(30)),
            .defaulting("longestLife", \.longestLife, .duration(), to: .seconds(600)),
        ])
}

extension TenantSettings.Callout {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("url", \.url, .text), .optional("token", \.token, .text),
            .defaulting("timeout", \.timeout, .duration(.seconds(1) ... .seconds(10)), to: .seconds(1)),
            .defaulting("memory", \.memory, .duration(.zero ... .seconds(300)), to: .seconds(5)),
        ])
}

extension TenantSettings.Caller {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("name", \.name, .name), .optional("apiKey", \.apiKey, .sha256),
            .optional("basic", \.basic, .sha256), .optional("certificate", \.certificate, .sha256),
            .defaulting("rights", \.rights, .distinct(.right), to: [.readSPEKE, .readCommonEncryption]),
        ],
        check: { caller, place, problems in
            guard caller.proofs.isEmpty else { return }
            problems.append(
                JSONProblem(
                    place, "This caller has no credential to identify it.",
                    remedy: "Set the SHA-256 of its API key, of its USER:PASSWORD, or of its certificate."))
        })

    /// How it proves itself: each member that is stated.
    fileprivate var proofs: [(member: String, digest: String)] {
        [("apiKey", apiKey), ("basic", basic), ("certificate", certificate)].compactMap { member, digest in
            digest.map { (member, $0) }
        }
    }

    /// The credentials that it has, as requests bring them.
    package var credentials: [CallerCredential] {
        proofs.flatMap { member, digest in
            let kinds: [CallerCredential.Scheme] =
                switch member {
                case "apiKey": [.apiKey, .bearer]
                case "basic": [.basic]
                default: [.certificate]
                }
            return kinds.compactMap { CallerCredential($0, sha256: digest) }
        }
    }

    /// Finds packagers of one tenant whom nothing tells apart: one name with different rights, and one key twice. A caller has several
    /// entries while its key is changed.
    fileprivate static func check(_ callers: [Self], _ place: JSONPlace, _ problems: inout [JSONProblem]) {
        for (index, caller) in callers.enumerated() {
            let place = place.element(index)
            let before = callers.prefix(index)
            if let other = before.first(where: { $0.name == caller.name }), other.rights != caller.rights {
                problems.append(
                    JSONProblem(
                        place.member("rights"), "Another entry of “\(caller.name)” has other rights.",
                        remedy: "Use the same rights in both, or rename one."))
            }
            for (member, digest) in caller.proofs {
                guard
                    let other = before.first(where: { one in
                        one.proofs.contains { $0.member == member && $0.digest == digest }
                    })
                else { continue }
                problems.append(
                    JSONProblem(
                        place.member(member), "“\(caller.name)” and “\(other.name)” have the same key.",
                        remedy: "Give each packager of a tenant a unique key, or remove one of the two."))
            }
        }
    }
}

extension TenantSettings.Limits {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("requestsPerSecond", \.requestsPerSecond, .whole(0...10_000_000)),
            .optional("sessions", \.sessions, .whole(0...1_000_000_000)),
            .optional("keys", \.keys, .whole(0...1_000_000_000)),
            .optional("licensesPerDay", \.licensesPerDay, .whole(0...1_000_000_000_000)),
        ],
        check: { limits, place, problems in
            for limit in TenantLimit.allCases where limits[limit] == 0 {
                problems.append(
                    JSONProblem(
                        place.member(limit.rawValue), "A limit of 0 refuses every request.",
                        remedy: "Set the maximum, or remove the member for no limit."))
            }
        })
}

extension TenantSettings.Signer {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(), members: [.required("key", \.key, .text), .required("iv", \.iv, .text)])
}

extension TenantSettings.ImportRecipient {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(), members: [.required("certificate", \.certificate, .text), .required("key", \.key, .text)])
}

extension JSONForm where Value == KeyURITemplate {
    static let keyURITemplate = JSONForm(
        read: { value, place, problems in
            do throws(Diagnosis) {
                guard let text = value.text else { throw .template("It is not text.") }
                return try KeyURITemplate(text)
            } catch {
                problems.append(JSONProblem(place, error.reason, remedy: error.remedy))
                return nil
            }
        }, write: { .text($0.text) })
}

extension JSONForm where Value == String {
    /// 64 hexadecimal digits, read in any case.
    static let sha256 = JSONForm(
        text: "64 hexadecimal digits",
        read: { Data(hexString: $0)?.count == 32 ? $0.lowercased() : nil }, write: { $0 })
}

extension JSONForm where Value == CallerRight {
    static let right = JSONForm(
        words: CallerRight.all.map(\.rawValue).sorted(),
        read: { text in CallerRight.all.first { $0.rawValue == text } }, write: \.rawValue)
}

extension JSONForm where Value == TokenAlgorithm {
    /// By name; `EdDSA` and `Ed25519` are one.
    static let tokenAlgorithm = JSONForm(
        words: TokenAlgorithm.allCases.map(\.rawValue), read: { TokenAlgorithm(name: $0) }, write: \.rawValue)
}

extension CallerRight {
    /// All rights that a configuration can give.
    static let all: Set<CallerRight> = [
        .readSPEKE, .readCommonEncryption, .importKeys, .exportKeys, .disableKeys, .takeSlots,
    ]
}
