public import LatchkeyCore

/// A description of a vendor's license service: the same few building blocks for every vendor, and no code.
///
/// A profile is data and comes with Latchkey, or from a JSON file. `configured(_:)` adds the settings that it requires and makes a
/// vendor that is ready to use.
///
///     let vendor = try VendorProfile(json: file).configured(["certificateURL": "https://cdn.example/fairplay.cer"])
///
/// Source: `Documentation/Vendors/README.md` §23.
public struct VendorProfile: Sendable, Hashable {
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
    /// Where the license reply, or a setting, states the key's life.
    package var terms: TermsRule?
    /// When a key of this vendor is renewed.
    package var renewal: RenewalPolicy = RenewalPolicy()
    /// How to read a refusal.
    @_spi(Integrations) public package(set) var errors: ErrorRules = ErrorRules()
    /// How to read a refusal of the service for secure sessions, whose codes may be others.
    @_spi(Integrations) public var sessionErrors: ErrorRules { session?.errors ?? errors }
    /// The form of the token, to warn about it before it is sent.
    package var token: TokenFormat = .opaque
    /// Hosts that belong to the vendor. A key URI may name them without the app's permission.
    package var hosts: [String] = []
    /// Values to redact in addition to the headers, query items and fields that carry a credential.
    package var statedRedaction: Redaction = .standard
    /// The values of parameters that are not credentials.
    package var settings: [String: String] = [:]
    /// The evidence for the profile; `nil` if unknown.
    package var evidence: ProfileEvidence?

    /// A setting or a credential that a profile takes.
    package struct Parameter: Sendable, Hashable {
        /// The name, as in `--set NAME=VALUE`.
        package var name: String
        /// A short description.
        package var meaning: String
        /// Whether the profile works only with it.
        package var isRequired: Bool
        /// Whether it is a credential, which the app provides for each request, and not a setting.
        package var isCredential: Bool
        /// A value of the right form that authorizes nothing.
        package var example: String
        /// Its name in the vendor's sample for a player, if not `name`.
        package var alias: String?
        /// The only values that the vendor knows; `nil` for any.
        package var values: [String]?
        /// The maximum number of characters that the vendor accepts; `nil` for any number.
        package var maximumLength: Int?
        /// When a value is required although `isRequired` is false; `nil` for never.
        package var condition: Condition?

        /// The condition that another setting has one of some values.
        package struct Condition: Sendable, Hashable {
            package var setting: String
            package var values: [String]
        }

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

        /// The parameter under a sample's name too.
        package func known(as alias: String) -> Self {
            var parameter = self
            parameter.alias = alias
            return parameter
        }

        /// The parameter with the only values that the vendor knows.
        package func limited(to values: [String]) -> Self {
            var parameter = self
            parameter.values = values
            return parameter
        }

        /// The parameter with a maximum number of characters.
        package func limited(to length: Int) -> Self {
            var parameter = self
            parameter.maximumLength = length
            return parameter
        }

        /// The parameter, required if another setting has one of some values.
        package func needed(if setting: String, is values: [String]) -> Self {
            var parameter = self
            parameter.condition = Condition(setting: setting, values: values)
            return parameter
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
    /// The names of the settings and credentials that the profile takes, as the vendor's sample has them, in the order in which to show them.
    @_spi(Adapters) public var sampleNames: [String] { parameters.map { $0.alias ?? $0.name } }

    /// The profile's own names of them.
    @_spi(Adapters) public var parameterNames: [String] { parameters.map(\.name) }

    /// The names of the credentials among them, which the app gives for each request.
    @_spi(Adapters) public var credentialNames: Set<String> { Set(parameters.filter(\.isCredential).map(\.name)) }

    /// Values by the profile's own names, which may be given by the names of the vendor's sample.
    @_spi(Adapters) public func renamed<Value>(_ values: [String: Value]) -> [String: Value] {
        parameters.reduce(into: values) { renamed, parameter in
            guard let alias = parameter.alias, let value = renamed.removeValue(forKey: alias) else { return }
            renamed[parameter.name] = renamed[parameter.name] ?? value
        }
    }

    /// The required parameters without a value, each by its name in the vendor's sample, with its meaning.
    @_spi(Adapters) public func missing(
        in values: [String: String]
    ) -> [(name: String, sampleName: String, meaning: String, isCredential: Bool)] {
        parameters.filter { $0.isRequired && (values[$0.name] ?? settings[$0.name] ?? "").isEmpty }
            .map { ($0.name, $0.alias ?? $0.name, $0.meaning, $0.isCredential) }
    }

    /// The names of required settings without a value.
    package var missingSettings: [String] {
        parameters.filter { $0.isRequired && !$0.isCredential && settings[$0.name, default: ""].isEmpty }.map(\.name)
    }

    /// The problem with the value of a setting that a request reads, or `nil`.
    func flaw(of parameter: Parameter) -> IntegrationError? {
        guard !parameter.isCredential else { return nil }
        guard let value = settings[parameter.name], !value.isEmpty else {
            guard let condition = parameter.condition, let other = settings[condition.setting],
                condition.values.contains(other)
            else { return nil }
            return IntegrationError(
                .missingSetting,
                "\(name) needs the setting \"\(parameter.name)\" where \"\(condition.setting)\" is \(other).")
        }
        if let values = parameter.values, !values.contains(value) {
            return IntegrationError(
                .invalidRequest,
                "The setting \"\(parameter.name)\" of \(name) is not one of \(values.joined(separator: ", ")).",
                remedy: "Give the setting \"\(parameter.name)\" one of these values.")
        }
        if let limit = parameter.maximumLength, value.count > limit {
            return IntegrationError(
                .invalidRequest,
                "The setting \"\(parameter.name)\" of \(name) has \(value.count) characters, and \(limit) are the most.",
                remedy: "Give the setting \"\(parameter.name)\" a shorter value.")
        }
        return nil
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

    /// The license request for a key. Without a session, a vendor's renewal in one is a license as the first.
    func licenseRule(for context: LicenseContext) -> RequestRule {
        guard context.purpose == .renewal, session == nil || !context.session.isEmpty else { return license }
        return renewalRequest ?? license
    }
}

extension VendorProfile: CustomStringConvertible {
    /// The identifier alone, because settings may hold private addresses.
    public var description: String { identifier }
}
