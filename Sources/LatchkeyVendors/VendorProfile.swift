public import LatchkeyCore

/// A description of a vendor's license service: the same few building blocks for every vendor, and no code.
///
/// A profile is data and comes with Latchkey, or from a JSON file. `configured(_:)` adds the settings that it requires and makes a
/// vendor that is ready to use.
///
///     let vendor = try VendorProfile(json: file).configured(["certificateURL": "https://cdn.example/fairplay.cer"])
///
/// Source: `Documentation/Vendors/README.md` §23.
public struct VendorProfile: Sendable, Hashable, Codable {
    /// A stable name in lower case, such as `vudrm-raw`.
    public package(set) var identifier: String
    /// The vendor's own name.
    public package(set) var name: String
    /// The settings and credentials that the profile takes, in the order in which to show them.
    package var parameters: [Parameter]
    /// How the SPC names a key.
    package var contentIdentifierRule: TextRule
    /// How the request names a key, if not as the SPC does.
    package var requestContentID: TextRule?
    /// Where the application certificate comes from.
    package var certificate: CertificateRule
    /// The request that precedes all others, such as one for an entitlement.
    package var lookup: LookupRule?
    /// Secure sessions, if licenses belong to one.
    package var session: SessionRule?
    /// The license request.
    package var license: RequestRule
    /// The license request that renews a key, if it differs.
    package var renewalRequest: RequestRule?
    /// How to read the CKC in the reply.
    package var decoder: CKCDecoder
    /// Further values of the license reply: JSON paths by the names that the values get.
    package var sideValues: [String: String] = [:]
    /// What the license reply, or a setting, states about the key's life.
    package var terms: TermsRule?
    /// When a key of this vendor is renewed.
    package var renewal: RenewalPolicy = RenewalPolicy()
    /// How to read a refusal.
    package var errors: ErrorRules = ErrorRules()
    /// The form of the token, to warn about it before it is sent.
    package var token: TokenFormat = .opaque
    /// Hosts that belong to the vendor. A key URI may name them without the app's permission.
    package var hosts: [String] = []
    /// What must not be shown, beside the headers, query items and fields that carry a credential.
    package var statedRedaction: Redaction = .standard
    /// The values of parameters that are not credentials.
    package var settings: [String: String] = [:]
    /// What the profile is based on; `nil` if that is unknown.
    package var evidence: ProfileEvidence?

    /// A setting or a credential that a profile takes.
    package struct Parameter: Sendable, Hashable, Codable {
        /// The name, as in `--set NAME=VALUE`.
        package var name: String
        /// What it is, in a few words.
        package var meaning: String
        /// Whether the profile works only with it.
        package var isRequired: Bool
        /// Whether it is a credential, which the app gives for each request, and not a setting.
        package var isCredential: Bool
        /// A value of the right form that authorizes nothing.
        package var example: String

        /// Makes a setting.
        package static func setting(
            _ name: String, _ meaning: String, required: Bool = false, example: String
        ) -> Self {
            Self(name: name, meaning: meaning, isRequired: required, isCredential: false, example: example)
        }

        /// Makes a credential.
        package static func credential(
            _ name: String, _ meaning: String, required: Bool = true, example: String
        ) -> Self {
            Self(name: name, meaning: meaning, isRequired: required, isCredential: true, example: example)
        }
    }

    /// Where the application certificate comes from.
    package enum CertificateRule: Sendable, Hashable {
        /// From a server.
        case fetched(RequestRule, CertificateDecoder)
        /// From a setting, in base64 or PEM.
        case inline(setting: String)
        /// From a setting if it has a value, else from a server.
        case inlineOrFetched(setting: String, RequestRule, CertificateDecoder)

        package var request: RequestRule? {
            switch self {
            case .fetched(let request, _), .inlineOrFetched(_, let request, _): request
            case .inline: nil
            }
        }

        package var decoder: CertificateDecoder {
            switch self {
            case .fetched(_, let decoder), .inlineOrFetched(_, _, let decoder): decoder
            case .inline: .base64Text
            }
        }
    }
}

extension VendorProfile {
    /// The names of the settings and credentials that the profile takes, in the order in which to show them.
    @_spi(Adapters) public var parameterNames: [String] { parameters.map(\.name) }

    /// The names of the credentials among them, which the app gives for each request.
    @_spi(Adapters) public var credentialNames: Set<String> { Set(parameters.filter(\.isCredential).map(\.name)) }

    /// The names of required settings without a value.
    package var missingSettings: [String] {
        parameters.filter { $0.isRequired && !$0.isCredential && settings[$0.name, default: ""].isEmpty }.map(\.name)
    }

    /// The profile with the values of several settings.
    package func with(_ settings: [String: String]) -> Self {
        var profile = self
        profile.settings.merge(settings) { $1 }
        return profile
    }

    /// The profile with another value of a setting; `nil` removes the value.
    package func setting(_ name: String, to value: String?) -> Self {
        var profile = self
        profile.settings[name] = value
        return profile
    }

    /// Names a key for the SPC. Uses no more than the key URI and the profile's own settings.
    /// - Throws: `IntegrationError` `contentIdentifierMissing` or `missingSetting` if the profile's rule gives nothing.
    public func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier {
        let rules = RuleContext(keyURI: key, settings: settings)
        return ContentIdentifier(try rules.requiredText(contentIdentifierRule, for: "content identifier"))
    }

    /// The name of a key in the request, as far as it depends on the key URI and the settings alone; `nil` if the rule gives nothing.
    package func requestContentID(for key: KeyURI) -> String? {
        RuleContext(keyURI: key, settings: settings).text(requestNameRule)
    }

    /// How the request names a key.
    var requestNameRule: TextRule { requestContentID ?? contentIdentifierRule }

    /// The license request for a purpose.
    func licenseRule(for purpose: KeyPurpose) -> RequestRule {
        purpose == .renewal ? renewalRequest ?? license : license
    }
}

extension VendorProfile: CustomStringConvertible {
    /// The identifier alone, because settings may hold private addresses.
    public var description: String { identifier }
}
