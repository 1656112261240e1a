import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyLicensees
package import LatchkeyPackaging
package import LatchkeyVault

/// The configuration of one tenant. `form` explains each member.
///
/// Source: `Documentation/LicenseServer.md` §1 and §5.
package struct TenantSettings: Sendable, Equatable {
    package internal(set) var licensee: LicenseeConfiguration?
    package internal(set) var limits = Limits()
    package internal(set) var policy: String?
    package internal(set) var keyURI = KeyURITemplate.standard
    package internal(set) var clearKeyURI: KeyURITemplate?
    package internal(set) var allowsClearKey = false
    package internal(set) var slots = Slots.off
    package internal(set) var keys = TenantVault.Origin.derived
    package internal(set) var unlisted = TenantVault.Unlisted.refuse
    package internal(set) var tokens = Tokens()
    package internal(set) var vendors = TenantVendors()
    package internal(set) var packagers: [Caller] = []
    package internal(set) var signers: [String: Signer] = [:]
    package internal(set) var allowsPlainKeys = true
    package internal(set) var recipients: Set<String> = []
    package internal(set) var importRecipients: [ImportRecipient] = []
    package internal(set) var widevineProvider: String?
    package internal(set) var playReadyURL: String?
    package internal(set) var callout: Callout?
    package internal(set) var origins: Set<String> = []

    /// Who may take slots for licenses that another service makes.
    package enum Slots: String, Sendable, CaseIterable {
        case off, services, players

        func takes(isService: Bool) -> Bool { self == .players || self == .services && isService }
    }

    /// The tenant's limits; `nil` means unlimited.
    package struct Limits: Sendable, Equatable {
        package internal(set) var requestsPerSecond: Int?
        package internal(set) var sessions: Int?
        package internal(set) var keys: Int?
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
        package internal(set) var keys: String?
        package internal(set) var refresh = Duration.seconds(300)
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
        package internal(set) var url = ""
        package internal(set) var token: String?
        package internal(set) var timeout = Duration.seconds(1)
        package internal(set) var memory = Duration.seconds(5)
    }

    /// A program that identifies itself by a key or a certificate.
    package struct Caller: Sendable, Equatable {
        package internal(set) var name = ""
        package internal(set) var apiKey: String?
        package internal(set) var basic: String?
        package internal(set) var certificate: String?
        package internal(set) var rights: Set<CallerRight> = [.readSPEKE, .readCommonEncryption]
    }

    /// A signer of common-encryption requests.
    package struct Signer: Sendable, Equatable {
        package internal(set) var key = ""
        package internal(set) var iv = ""
    }

    /// A certificate that others encrypt keys to, and its private key.
    package struct ImportRecipient: Sendable, Equatable {
        package internal(set) var certificate = ""
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
            .optional("licensee", \.licensee, LicenseeConfiguration.form.form).explained(
                "The tenant's own [FairPlay credentials](Tenants.md#fairplay-credentials). A derivation that it does not name is the server's, with its vectors; so are the folders of `secretMounts`. Defaults to the server's `licensee`."
            ),
            .section("limits", \.limits, Limits.form).explained(
                "The [tenant's limits](Tenants.md#limits), each for the tenant as a whole. An absent member means no limit; 0 is a fault."
            ),
            .optional("policy", \.policy, .name).explained(
                "The name of the tenant's [policy](Policies.md). Without it, a valid token gets a license without limits."
            ),
            .defaulting("keyURI", \.keyURI, .keyURITemplate, to: .standard).explained(
                "The key URIs that packagers get, and that players send back: [Packaging.md](Packaging.md#speke-20-21-and-1). The license API also reads kids and packagers' other forms."
            ),
            .optional("clearKeyURI", \.clearKeyURI, .keyURITemplate).explained(
                "The key URIs of AES-128, whose address answers with the key. Without it AES-128 is refused to packagers."
            ),
            .defaulting("clearKey", \.allowsClearKey, .flag, to: false).explained(
                "Whether browsers get keys through Clear Key, which protects nothing on the device. Never with HDCP or persistence."
            ),
            .defaulting("slots", \.slots, .word, to: .off).explained(
                "Who may take [slots](Slots.md) for licenses that another service issues: `services` admits callers with the right `slots:take`, for viewers whose tokens they send; `players` also admits players."
            ),
            .defaulting("keys", \.keys, .word, to: .derived).explained(
                "The source of new keys: `derived` from the tenant's seed, the same for a content and a kid on every node and after a restart; `stored` creates random ones."
            ),
            .defaulting("unlisted", \.unlisted, .word, to: .refuse).explained(
                "A license for a key that no packager has received: `refuse` answers 404 `unknownKey`; `derive` derives the key for any named content. [Read the warning](Packaging.md) before you use `derive`, which excludes `\"keys\": \"stored\"`."
            ),
            .section("tokens", \.tokens, Tokens.form).explained("The tenant's [tokens](Tokens.md)."),
            .section("vendors", \.vendors, TenantVendors.form).explained(
                "The APIs of vendors that installed apps speak to: [their addresses and tokens](../Vendors/Latchkey.md#an-app-that-speaks-to-a-vendor). None by default."
            ),
            .defaulting("packagers", \.packagers, .list(Caller.form.form), to: []).explained(
                "The programs that deliver, fetch and import keys: [Packaging.md](Packaging.md). A packager has two entries while its key is being replaced."
            ),
            .defaulting("signers", \.signers, .members(.name, Signer.form.form), to: [:]).explained(
                "The signers of common-encryption requests, by name: [Shaka Packager](Packaging.md#shaka-packager). With one, only signatures count on that path."
            ),
            .defaulting("plainKeys", \.allowsPlainKeys, .flag, to: true).explained(
                "Whether encryptors get keys in the clear, under TLS. With `false` they must send certificates, and get keys encrypted to them."
            ),
            .defaulting("recipients", \.recipients, .distinct(.sha256), to: []).explained(
                "The SHA-256 of the only certificates that keys are encrypted to. An empty list accepts every certificate."
            ),
            .defaulting("importRecipients", \.importRecipients, .list(ImportRecipient.form.form), to: []).explained(
                "The certificates that senders encrypt keys to: [imports by CPIX](Packaging.md#keys-from-another-system-by-cpix). Without them keys are imported in the clear. While you replace a certificate, list both."
            ),
            .optional("callout", \.callout, Callout.form.form).explained(
                "Your own service, which decides whether a viewer may play a content: [Tokens.md](Tokens.md#ask-your-own-service-instead). None by default."
            ),
            .optional("widevineProvider", \.widevineProvider, .text).explained(
                "The provider's name in Widevine's signaling."),
            .optional("playReadyURL", \.playReadyURL, .text).explained("The license address in PlayReady's signaling."),
            .defaulting("origins", \.origins, .distinct(.text), to: [])
                .explained("The web origins whose pages may request licenses; `*` allows all."),
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
            .optional("keys", \.keys, .text).explained(
                "A JSON web key set, or public keys in PEM: a file's path, or an https address. Without it no token is accepted. An address with a private certificate authority needs `SSL_CERT_FILE` in the server's environment: a PEM file that replaces the system's authorities."
            ),
            .defaulting("refresh", \.refresh, .duration(), to: .seconds(300))
                .explained(
                    "The interval at which a set at an address is fetched. A file is read again when it changes."),
            .defaulting("algorithms", \.algorithms, .distinct(.tokenAlgorithm), to: []).explained(
                "The only algorithms of the keys; an empty list allows all. RSA keys without an `alg`, such as those of Microsoft Entra, are for the RSA algorithms in the list, otherwise for RS256."
            ),
            .defaulting("audiences", \.audiences, .distinct(.text), to: [])
                .explained("The accepted values of `aud`; an empty list does not check it."),
            .defaulting("issuers", \.issuers, .distinct(.text), to: [])
                .explained("The accepted values of `iss`; an empty list does not check it."),
            .optional("type", \.type, .text).explained("The required `typ`. Not checked by default."),
            .defaulting("leeway", \.leeway, .duration(.zero ... .seconds(300)), to: .seconds(30))
                .explained("How far ahead `nbf` and `iat` may be. `exp` has no leeway."),
            .defaulting("longestLife", \.longestLife, .duration(), to: .seconds(600))
                .explained("The longest time from `iat`, or from now without it, to `exp`."),
        ])
}

extension TenantSettings.Callout {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("url", \.url, .text).explained("The service's https address, or http on loopback."),
            .optional("token", \.token, .text)
                .explained("The file of the bearer token that the service requires. None by default."),
            .defaulting("timeout", \.timeout, .duration(.seconds(1) ... .seconds(10)), to: .seconds(1))
                .explained("The time for an answer."),
            .defaulting("memory", \.memory, .duration(.zero ... .seconds(300)), to: .seconds(5))
                .explained("The time for which an answer is valid, by user and asset."),
        ])
}

extension TenantSettings.Limits {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("requestsPerSecond", \.requestsPerSecond, .whole(0...10_000_000)).explained(
                "Players' requests to one node, five times as many after a pause, in place of the server's `limits.perTenant`. More are refused with 429 `tenantRequestLimit`. Exact, for each node."
            ),
            .optional("sessions", \.sessions, .whole(0...1_000_000_000)).explained(
                "Concurrent slots on all nodes, if policies count them. A session that replaces another one needs no additional slot, and a renewal needs none. More are refused with 429 `tenantSessionLimit`, for a minute. Counted by the store every five seconds; can be exceeded by other nodes' new sessions in that time."
            ),
            .optional("keys", \.keys, .whole(0...1_000_000_000)).explained(
                "Content keys in the store; existing keys stay, and are delivered. More are refused with 409 or 422 `tenantKeyLimit`. Counted by the store each minute; can be exceeded by other nodes' new keys in that time."
            ),
            .optional("licensesPerDay", \.licensesPerDay, .whole(0...1_000_000_000_000)).explained(
                "Licenses in a UTC day on all nodes. A renewal of a session counts and is never refused; others are refused with 429 `tenantLicenseLimit`, until midnight. Exchanged with the store every five seconds and at the end, and kept over restarts; can be exceeded by other nodes' licenses in that time, and a killed process loses its last seconds."
            ),
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
        empty: Self(),
        members: [
            .required("key", \.key, .text).explained("The file of the AES key, 64 hexadecimal digits, of mode 0600."),
            .required("iv", \.iv, .text).explained("The IV, 32 hexadecimal digits."),
        ])
}

extension TenantSettings.ImportRecipient {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("certificate", \.certificate, .text)
                .explained("The certificate's file, in DER or PEM form. RSA with 2,048 bits or more."),
            .required("key", \.key, .text).explained(
                "The file of its private key, in PEM form, readable only by its owner. It must match the certificate."),
        ])
}

extension JSONForm where Value == KeyURITemplate {
    static let keyURITemplate = JSONForm(
        expected: "a URI with `{kid}`, and optionally `{contentId}` and `{iv}`",
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
