public import Foundation
public import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A vendor's license service as a value: the same few building blocks for every vendor, and no code.
///
/// Take one of the profiles of this room and give it its settings, or write one in JSON.
///
///     let integration = VendorProfile.vuDRM(certificate: url)
///
/// Source: `vendors.md` §23.
public struct VendorProfile: Sendable, Hashable, Codable {
    /// A stable name in lower case, such as `vudrm-raw`.
    public var identifier: String
    /// The vendor's own name.
    public var name: String
    /// What the profile needs to be told, in the order to show it.
    public var parameters: [Parameter]
    /// How the SPC names a key.
    public var contentIdentifierRule: TextRule
    /// How the request names a key, where that differs from the SPC.
    public var requestContentID: TextRule?
    /// How the application certificate is got.
    public var certificate: CertificateRule
    /// The license request.
    public var license: RequestRule
    /// How the CKC is taken out of the reply.
    public var decoder: CKCDecoder
    /// Further values of the license reply, by the name that they get and the JSON path where they stand.
    public var sideValues: [String: String]
    /// How the vendor says no.
    public var errors: ErrorRules
    /// What form the token has, to warn before it is sent.
    public var token: TokenFormat
    /// Hosts that belong to the vendor; a key URI may name them without the app's leave.
    public var hosts: [String]
    /// What must not be shown.
    public var redaction: Redaction
    /// The values of parameters that are no credentials.
    public var settings: [String: String]

    /// Makes a profile; see the files in `Profiles` for examples.
    public init(
        identifier: String, name: String, parameters: [Parameter], contentIdentifier: TextRule,
        requestContentID: TextRule? = nil, certificate: CertificateRule, license: RequestRule, decoder: CKCDecoder,
        sideValues: [String: String] = [:], errors: ErrorRules = ErrorRules(), token: TokenFormat = .opaque,
        hosts: [String] = [], redaction: Redaction = .standard, settings: [String: String] = [:]
    ) {
        self.identifier = identifier
        self.name = name
        self.parameters = parameters
        self.contentIdentifierRule = contentIdentifier
        self.requestContentID = requestContentID
        self.certificate = certificate
        self.license = license
        self.decoder = decoder
        self.sideValues = sideValues
        self.errors = errors
        self.token = token
        self.hosts = hosts
        self.redaction = redaction
        self.settings = settings
    }

    /// Something that a profile needs to be told.
    public struct Parameter: Sendable, Hashable, Codable {
        /// The name, as in `--set NAME=VALUE`.
        public var name: String
        /// What it is, in a few words.
        public var meaning: String
        /// Whether it can be left out.
        public var isRequired: Bool
        /// Whether it is a credential, which the app gives per request, and not a setting.
        public var isCredential: Bool
        /// A value of the right form, that opens nothing.
        public var example: String

        /// Makes a setting.
        public static func setting(_ name: String, _ meaning: String, required: Bool = false, example: String) -> Self {
            Self(name: name, meaning: meaning, isRequired: required, isCredential: false, example: example)
        }

        /// Makes a credential.
        public static func credential(_ name: String, _ meaning: String, required: Bool = true, example: String) -> Self
        {
            Self(name: name, meaning: meaning, isRequired: required, isCredential: true, example: example)
        }
    }

    /// Where the application certificate comes from.
    public enum CertificateRule: Sendable, Hashable {
        /// From a server, decoded as stated.
        case fetched(RequestRule, CertificateDecoder)
        /// From a setting that holds it in base64.
        case inline(setting: String)
    }
}

extension VendorProfile {
    /// The profile with a setting's value.
    public func setting(_ name: String, to value: String?) -> Self {
        var profile = self
        profile.settings[name] = value
        return profile
    }

    /// The names of required settings that have no value.
    public var missingSettings: [String] {
        parameters.filter { $0.isRequired && !$0.isCredential && settings[$0.name, default: ""].isEmpty }.map(\.name)
    }
}

extension VendorProfile: CustomStringConvertible {
    /// The identifier alone: settings may hold what is nobody's business.
    public var description: String { identifier }
}

extension VendorProfile: DRMIntegration {
    public var configuredURLs: [URL] {
        settings.values.compactMap(URL.init(string:)).filter { ["http", "https"].contains($0.scheme?.lowercased()) }
            + hosts.compactMap { URL(string: "https://\($0)") }
    }

    public func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier {
        let context = RuleContext(keyURI: key, settings: settings)
        return ContentIdentifier(try context.requiredText(contentIdentifierRule, for: "content identifier"))
    }

    public func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? {
        guard case .fetched(let rule, _) = certificate else { return nil }
        try requireSettings(of: rule)
        return try rule.request(
            RuleContext(settings: settings, credentials: try await credentials(for: rule, context.credentials)),
            for: "certificate URL")
    }

    public func bundledCertificate() throws -> ApplicationCertificate? {
        guard case .inline(let name) = certificate else { return nil }
        let text = try RuleContext(settings: settings).requiredText(.setting(name), for: "application certificate")
        return try CertificateDecoder.base64Text.certificate(from: Data(text.utf8))
    }

    public func certificate(from exchange: HTTPExchange) throws -> ApplicationCertificate {
        guard case .fetched(_, let decoder) = certificate else {
            throw IntegrationError(.certificateMalformed, "The profile \(identifier) fetches no certificate.")
        }
        try errors.check(exchange.reply)
        do {
            return try decoder.certificate(from: exchange.reply.body)
        } catch {
            throw error.with(errors.summary(of: exchange.reply))
        }
    }

    public func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        try requireSettings(of: license)
        var rules = RuleContext(license: context, spc: spc)
        rules.settings = settings
        rules.credentials = try await credentials(for: license, context.credentials)
        rules.contentID =
            try requestContentID.map { rule throws(IntegrationError) in
                try rules.requiredText(rule, for: "content id of the request")
            } ?? rules.text(contentIdentifierRule)
        return try license.request(rules)
    }

    public func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        try errors.check(exchange.reply)
        do {
            let ckc = try decoder.contentKeyContext(from: exchange.reply.body)
            return License(ckc: ckc, sideValues: sideValues(of: exchange.reply))
        } catch {
            throw error.with(errors.summary(of: exchange.reply))
        }
    }

    /// Insists on the required settings that a request reads; the other request may be the player's own.
    private func requireSettings(of rule: RequestRule) throws(IntegrationError) {
        let read = rule.names.settings
        guard let missing = missingSettings.first(where: read.contains) else { return }
        throw IntegrationError(
            .missingSetting, "\(name) needs the setting \"\(missing)\".",
            remedy: "Give the integration the setting \"\(missing)\".")
    }

    /// Asks the app only where the request carries a credential, and insists on those that the profile requires.
    private func credentials(
        for rule: RequestRule, _ ask: @Sendable () async throws -> CredentialSet
    ) async throws -> CredentialSet {
        let wanted = rule.names.credentials
        guard !wanted.isEmpty else { return .none }
        let given = try await ask()
        for parameter in parameters
        where parameter.isCredential && parameter.isRequired && wanted.contains(parameter.name) {
            if given.values[parameter.name].map({ $0.count == 0 }) ?? true {
                throw IntegrationError(
                    .missingCredential, "\(name) needs the credential \"\(parameter.name)\" (\(parameter.meaning)).")
            }
        }
        return given
    }

    private func sideValues(of reply: HTTPReply) -> [String: Secret] {
        guard !sideValues.isEmpty, let json = JSONReply(reply.body) else { return [:] }
        return sideValues.compactMapValues { json.text(at: $0).map { Secret($0) } }
    }
}
