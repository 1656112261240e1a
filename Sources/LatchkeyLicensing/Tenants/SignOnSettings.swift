import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms

extension ServerSettings {
    /// An OpenID provider at which operators sign in.
    ///
    /// Source: `Documentation/Server/Operators.md`; OpenID Connect Core 1.0.
    package struct OpenID: Sendable, Equatable {
        package internal(set) var issuer = ""
        package internal(set) var clientID = ""
        package internal(set) var clientSecretFile: String?
        package internal(set) var authorities: String?
        package internal(set) var redirectBase = ""
        package internal(set) var scopes = ["profile"]
        package internal(set) var claim = "groups"
        package internal(set) var grants: [Grant] = []
        package internal(set) var algorithms = Self.usualAlgorithms
        package internal(set) var sessionLife = Self.usualLife

        fileprivate static let usualAlgorithms: [TokenAlgorithm] = [.rs256, .es256]
        fileprivate static let usualLife = Duration.seconds(8 * 3_600)
    }

    /// A proxy that identifies operators, and states the identity in a header.
    package struct IdentityProxy: Sendable, Equatable {
        package internal(set) var addresses: [AddressRange] = []
        package internal(set) var userHeader = "X-Forwarded-User"
        package internal(set) var groupsHeader = "X-Forwarded-Groups"
        package internal(set) var grants: [Grant] = []
    }

    /// The rights of people with a value of a claim, or in a group.
    package struct Grant: Sendable, Equatable {
        package internal(set) var value = ""
        package internal(set) var role = AdminRole.viewer
        package internal(set) var tenants = TenantScope.all
    }
}

extension ServerSettings.OpenID {
    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("issuer", \.issuer, .issuer)
                .explained("The provider's address, byte for byte as in its discovery document."),
            .required("clientID", \.clientID, .text).explained("This server's name at the provider."),
            .optional("clientSecretFile", \.clientSecretFile, .text).explained(
                "The file of the client's secret, readable only by its owner. Without it, a public client, with PKCE."),
            .optional("authorities", \.authorities, .text).explained(
                "A PEM file of certificate authorities that are trusted for the provider in addition to the system's."),
            .required("redirectBase", \.redirectBase, .redirectBase).explained(
                "The address at which browsers reach the console. The server redirects to no other address, whatever `Host` says."
            ),
            .defaulting("scopes", \.scopes, .distinct(.scope), to: ["profile"])
                .explained("The requested scopes in addition to `openid`."),
            .defaulting("claim", \.claim, .text, to: "groups")
                .explained("The claim of the ID token that grants match, a text or a list of texts."),
            .required("grants", \.grants, .grants)
                .explained(
                    "Roles by the claim's values. **The first matching grant counts**: grants are never combined."),
            .defaulting("algorithms", \.algorithms, .publicKeyAlgorithms, to: usualAlgorithms)
                .explained("The provider's signature algorithms, always with a public key."),
            .defaulting("sessionLife", \.sessionLife, .duration(.seconds(300) ... .seconds(86_400)), to: usualLife)
                .explained("The duration of a session."),
        ])

    /// The address to which the provider sends people back.
    package var redirectURI: String { redirectBase + "/sign-in/callback" }
}

extension ServerSettings.IdentityProxy {
    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("addresses", \.addresses, .distinct(.addressRange)).explained(
                "The trusted proxies, the only ones that may send the headers. Ranges of at most a /8 of IPv4 and a /20 of IPv6, and `fc00::/7`."
            ),
            .defaulting("userHeader", \.userHeader, .name, to: "X-Forwarded-User")
                .explained("The header with the person's name."),
            .defaulting("groupsHeader", \.groupsHeader, .name, to: "X-Forwarded-Groups")
                .explained("The header with the groups, separated by commas."),
            .required("grants", \.grants, .grants).explained("Roles by the groups. The first matching grant counts."),
        ],
        check: { proxy, place, problems in
            for range in proxy.addresses where range.isWide {
                problems.append(
                    JSONProblem(
                        place.member("addresses"),
                        "\(range) is far larger than a proxy needs: clients could forge their identity.",
                        remedy: "Use the proxy's addresses."))
            }
            if proxy.addresses.isEmpty {
                problems.append(
                    JSONProblem(
                        place.member("addresses"), "It lists no address, so sign-in would be impossible.",
                        remedy: "Use the proxy's addresses."))
            }
        })
}

extension ServerSettings.Grant {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("value", \.value, .text).explained("A value of the claim, or a group."),
            .defaulting("role", \.role, .word, to: .viewer).explained("The role of these people."),
            .defaulting("tenants", \.tenants, .tenantScope, to: .all).explained("The tenants of these people."),
        ])
}

extension ServerSettings.Listener {
    /// The grants of people without a key.
    var grants: [ServerSettings.Grant] { (openID?.grants ?? []) + (identityProxy?.grants ?? []) }

    /// Finds two ways to sign in, which would be ambiguous, and grants for unknown tenants.
    func checkSignOn(
        _ tenants: some Collection<String>, _ place: JSONPlace, _ problems: inout [JSONProblem]
    ) {
        if openID != nil, identityProxy != nil {
            problems.append(
                JSONProblem(
                    place.member("identityProxy"), "A provider and a proxy cannot both identify operators.",
                    remedy: "Remove either openID or identityProxy."))
        }
        for (name, grants) in [("openID", openID?.grants), ("identityProxy", identityProxy?.grants)] {
            for (index, grant) in (grants ?? []).enumerated() {
                guard case .listed(let names) = grant.tenants else { continue }
                for tenant in names.sorted() where !tenants.contains(tenant) {
                    problems.append(
                        JSONProblem(
                            place.member(name).member("grants").element(index).member("tenants"),
                            "The tenant “\(tenant)” does not exist.",
                            remedy: "Correct the name, or add the tenant first."))
                }
            }
        }
    }
}

extension JSONForm where Value == [ServerSettings.Grant] {
    fileprivate static let grants = JSONForm.list(ServerSettings.Grant.form.form)
}

extension JSONForm where Value == [TokenAlgorithm] {
    fileprivate static let publicKeyAlgorithms: JSONForm<[TokenAlgorithm]> = {
        let words = JSONForm<[TokenAlgorithm]>.distinct(.word)
        return JSONForm(
            expected: "a list of RS, PS, ES and EdDSA algorithms",
            read: { value, place, problems in
                guard let read = words.read(value, place, &problems) else { return nil }
                for (index, algorithm) in read.enumerated() {
                    guard case .hmac = algorithm.method else { continue }
                    problems.append(
                        JSONProblem(
                            place.element(index), "\(algorithm.rawValue) signs with a shared secret.",
                            remedy: "Use algorithms with a public key, such as RS256 and ES256."))
                }
                if read.isEmpty {
                    problems.append(
                        JSONProblem(
                            place, "No token could be signed.", remedy: "Use RS256, or the provider's algorithms.")
                    )
                }
                return read
            }, write: words.write)
    }()
}

extension JSONForm where Value == String {
    /// An https address without user, query and fragment. A slash at the end stays: issuers are compared byte for byte.
    fileprivate static let issuer = JSONForm(
        text: "the provider's https address, exactly as in its discovery document's “issuer”",
        read: { $0.isAddress(of: ["https"]) ? $0 : nil }, write: { $0 })

    fileprivate static let redirectBase = JSONForm(
        text: "the console's https address without a path, such as https://console.example (http on loopback alone)",
        read: { text in
            guard text.isAddress(of: ["https", "http"]), let url = URL(string: text), url.path().isEmpty else {
                return nil
            }
            return url.scheme == "https" || ["127.0.0.1", "::1", "localhost"].contains(url.host()) ? text : nil
        }, write: { $0 })

    /// A word of RFC 6749 §3.3, without the quotation marks that it allows as well.
    fileprivate static let scope = JSONForm(
        text: "a scope of 1 to 64 letters, digits or “._:/-”",
        read: { text in
            (1...64).contains(text.utf8.count)
                && text.unicodeScalars.allSatisfy {
                    $0.isASCII && ($0.properties.isAlphabetic || "0123456789._:/-".unicodeScalars.contains($0))
                } ? text : nil
        }, write: { $0 })
}

extension String {
    fileprivate func isAddress(of schemes: [String]) -> Bool {
        guard utf8.count <= 512, !contains("?"), !contains("#"), let url = URL(string: self), let scheme = url.scheme
        else { return false }
        return schemes.contains(scheme) && url.host()?.isEmpty == false && url.user() == nil
    }
}
