public import Foundation
public import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

@_spi(Integrations) extension ConfiguredVendor: VendorIntegration {
    public var identifier: String { profile.identifier }
    public var redaction: Redaction { profile.redaction }
    public var renewal: RenewalPolicy { profile.renewal }
    public var certificateURL: URL? { profile.settings[SettingName.certificateURL].flatMap(URL.init(string:)) }
    public var licenseURL: URL? { profile.settings[SettingName.licenseURL].flatMap(URL.init(string:)) }

    public var configuredURLs: [URL] {
        profile.settings.values.compactMap(URL.init(string:))
            .filter { ["http", "https"].contains($0.scheme?.lowercased()) }
            + profile.hosts.compactMap { URL(string: "https://\($0)") }
    }

    public func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier {
        try profile.contentIdentifier(for: key)
    }

    public var lookupScope: LookupScope { profile.lookup?.scope ?? .never }

    public func lookupRequest(_ context: LookupContext) async throws -> URLRequest? {
        guard let request = profile.lookup?.request else { return nil }
        try requireSettings(of: request)
        var rules = rules(context)
        rules.credentials = try await credentials(for: request, context.credentials)
        // A service that gets no content name would answer with a misleading error.
        rules.contentID =
            request.readsContentID
            ? try rules.requiredText(profile.requestNameRule, for: "content id") : rules.text(profile.requestNameRule)
        return try request.request(rules, for: "lookup URL")
    }

    public func lookup(from exchange: HTTPExchange, _ context: LookupContext) throws -> [String: Secret] {
        try profile.lookup?.values(of: exchange.reply, rules(context)) ?? [:]
    }

    private func rules(_ context: LookupContext) -> RuleContext {
        var rules = RuleContext(keyURI: context.keyURI, settings: profile.settings)
        rules.messageID = context.messageID
        return rules
    }

    public func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? {
        guard let request = profile.certificate.request else { return nil }
        try requireSettings(of: request)
        var rules = RuleContext(
            settings: profile.settings, credentials: try await credentials(for: request, context.credentials))
        rules.lookup = context.lookup
        return try request.request(rules, for: "certificate URL")
    }

    public func bundledCertificate() throws -> ApplicationCertificate? {
        switch profile.certificate {
        case .fetched: return nil
        case .inlineOrFetched(let name, _, _) where profile.settings[name] == nil: return nil
        case .inline(let name), .inlineOrFetched(let name, _, _):
            return try Self.certificate(inSetting: name, profile.settings[name] ?? "")
        }
    }

    /// The certificate that the app ships: DER in base64, PEM, or PEM in base64.
    private static func certificate(inSetting name: String, _ text: String) throws(IntegrationError)
        -> ApplicationCertificate
    {
        let bytes = Data(text.utf8)
        let inside = Data(lenientBase64: text)
        do {
            if let inside, Recognition(inside).isPEM { return try CertificateDecoder.sniff.certificate(from: inside) }
            return try CertificateDecoder.base64Text.certificate(from: bytes)
        } catch {
            let found = Recognition(inside ?? bytes)
            let mistake = IntegrationError(
                .certificateMalformed, found.described(inside ?? bytes), inPlaceOf: "certificate", from: .setting(name))
            throw IntegrationError(
                mistake.kind, mistake.reason,
                remedy:
                    "Ship the FairPlay application certificate as DER or PEM, and check that its file is in the app.")
        }
    }

    public func certificate(from exchange: HTTPExchange) throws -> ApplicationCertificate {
        guard profile.certificate.request != nil else {
            throw IntegrationError(.certificateMalformed, "The profile \(identifier) fetches no certificate.")
        }
        do { try profile.errors.check(exchange.reply) } catch { throw error.aboutCertificate }
        do {
            return try profile.certificate.decoder.certificate(from: exchange.reply.body)
        } catch {
            throw error.with(profile.errors.summary(of: exchange.reply))
        }
    }

    public func licenseURL(for key: KeyURI, lookup: [String: Secret]) -> URL? {
        var rules = RuleContext(keyURI: key, settings: profile.settings)
        rules.lookup = lookup
        rules.contentID = rules.text(profile.requestNameRule)
        return try? profile.license.url.url(rules, for: "license URL")
    }

    public func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        let request = profile.licenseRule(for: context)
        try requireSettings(of: request)
        return try licenseRequest(
            for: spc, context, credentials: try await credentials(for: request, context.credentials))
    }

    public func advice(
        on credentials: CredentialSet, _ context: LicenseContext, at date: Date
    ) -> [TokenInspection.Advice] {
        credentials.advice(for: context, as: profile.token, settings: profile.settings, at: date)
    }

    public func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        try checkStatus(of: exchange.reply)
        do {
            let (ckc, warning) = try profile.decoder.ckc(in: exchange.reply.body)
            let json = JSONReply(exchange.reply.body)
            return License(
                ckc: ckc, terms: profile.terms?.terms(of: json, settings: profile.settings),
                sideValues: profile.sideValues.compactMapValues { json?.text(at: $0).map { Secret($0) } },
                warnings: [warning].compactMap { $0 })
        } catch {
            throw error.with(profile.errors.summary(of: exchange.reply))
        }
    }

    /// Throws the refusal in a reply. A good CKC with a status that the vendor does not use has a special reason.
    private func checkStatus(of reply: HTTPReply) throws(IntegrationError) {
        let errors = profile.errors
        do {
            try errors.check(reply)
        } catch {
            guard (200..<300).contains(reply.status), !errors.successes.contains(reply.status),
                (try? profile.decoder.ckc(in: reply.body)) != nil
            else { throw error }
            let known = errors.successes.sorted().map { "\($0)" }.joined(separator: " or ")
            throw IntegrationError(
                .licenseMalformed, "The reply holds a CKC, but its status is \(reply.status) and not \(known).",
                remedy: "Have the service answer \(known), or add \(reply.status) to the profile's errors.successes.",
                service: error.service)
        }
    }
}

extension ConfiguredVendor {
    /// Requires the settings that a request reads, in the form that the vendor takes, also of a vendor that was made unchecked.
    func requireSettings(of rule: RequestRule) throws(IntegrationError) {
        let read = rule.names.settings
        if let missing = profile.missingSettings.first(where: read.contains) { throw profile.needs(missing) }
        let flaws = profile.parameters.lazy.filter { read.contains($0.name) }.compactMap { profile.flaw(of: $0) }
        if let flaw = flaws.first { throw flaw }
    }

    /// Asks the app if the request carries a credential, and checks that all the credentials that the profile requires are given.
    func credentials(
        for rule: RequestRule, _ ask: @Sendable () async throws -> CredentialSet
    ) async throws -> CredentialSet {
        guard !rule.names.credentials.isEmpty else { return .none }
        return try checked(try await ask(), for: rule)
    }

    /// Requires the credentials that the profile requires.
    func checked(_ given: CredentialSet, for rule: RequestRule) throws(IntegrationError) -> CredentialSet {
        if let parameter = missingCredentials(in: given, for: rule).first {
            throw IntegrationError(
                .missingCredential,
                "\(profile.name) needs the credential \"\(parameter.name)\" (\(parameter.meaning)).")
        }
        return given
    }

    /// The credentials that a request requires and that are missing.
    func missingCredentials(in given: CredentialSet, for rule: RequestRule) -> [VendorProfile.Parameter] {
        let wanted = rule.names.credentials
        return profile.parameters.filter { parameter in
            parameter.isCredential && parameter.isRequired && wanted.contains(parameter.name)
                && given.values[parameter.name].map { $0.count == 0 } ?? true
        }
    }
}
