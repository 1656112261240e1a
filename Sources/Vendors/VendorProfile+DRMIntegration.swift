public import Foundation
public import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension VendorProfile: DRMIntegration {
    public var configuredURLs: [URL] {
        settings.values.compactMap(URL.init(string:)).filter { ["http", "https"].contains($0.scheme?.lowercased()) }
            + hosts.compactMap { URL(string: "https://\($0)") }
    }

    public func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier {
        let context = RuleContext(keyURI: key, settings: settings)
        return ContentIdentifier(try context.requiredText(contentIdentifierRule, for: "content identifier"))
    }

    /// How the request names a key, where that needs no more than the key URI and the settings; nil where the rule gives nothing.
    public func requestContentID(for key: KeyURI) -> String? {
        RuleContext(keyURI: key, settings: settings).text(requestContentID ?? contentIdentifierRule)
    }

    public var lookupScope: LookupScope { lookup?.scope ?? .never }

    public func lookupRequest(_ context: LookupContext) async throws -> URLRequest? {
        guard let lookup else { return nil }
        try requireSettings(of: lookup.request)
        return try lookup.request.request(
            try await rules(for: lookup, context, credentials: context.credentials), for: "lookup URL")
    }

    public func lookup(from exchange: HTTPExchange, _ context: LookupContext) throws -> [String: Secret] {
        guard let lookup else { return [:] }
        var rules = RuleContext(keyURI: context.keyURI, settings: settings)
        rules.messageID = context.messageID
        return try lookup.values(of: exchange.reply, rules)
    }

    private func rules(
        for lookup: LookupRule, _ context: LookupContext, credentials: @Sendable () async throws -> CredentialSet
    ) async throws -> RuleContext {
        var rules = RuleContext(keyURI: context.keyURI, settings: settings)
        rules.messageID = context.messageID
        rules.credentials = try await self.credentials(for: lookup.request, credentials)
        rules.contentID = rules.text(requestContentID ?? contentIdentifierRule)
        return rules
    }

    public func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? {
        guard let rule = certificate.request else { return nil }
        try requireSettings(of: rule)
        var rules = RuleContext(settings: settings, credentials: try await credentials(for: rule, context.credentials))
        rules.lookup = context.lookup
        return try rule.request(rules, for: "certificate URL")
    }

    public func bundledCertificate() throws -> ApplicationCertificate? {
        switch certificate {
        case .fetched: return nil
        case .inlineOrFetched(let name, _, _) where settings[name, default: ""].isEmpty: return nil
        case .inline(let name), .inlineOrFetched(let name, _, _):
            let text = try RuleContext(settings: settings).requiredText(.setting(name), for: "application certificate")
            return try CertificateDecoder.base64Text.certificate(from: Data(text.utf8))
        }
    }

    public func certificate(from exchange: HTTPExchange) throws -> ApplicationCertificate {
        guard certificate.request != nil else {
            throw IntegrationError(.certificateMalformed, "The profile \(identifier) fetches no certificate.")
        }
        try errors.check(exchange.reply)
        do {
            return try certificate.decoder.certificate(from: exchange.reply.body)
        } catch {
            throw error.with(errors.summary(of: exchange.reply))
        }
    }

    public func licenseURL(for key: KeyURI, lookup: [String: Secret]) -> URL? {
        var rules = RuleContext(keyURI: key, settings: settings)
        rules.lookup = lookup
        rules.contentID = rules.text(requestContentID ?? contentIdentifierRule)
        return try? license.url.url(rules, for: "license URL")
    }

    public func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        let request = context.purpose == .renewal ? renewalRequest ?? license : license
        try requireSettings(of: request)
        return try licenseRequest(
            for: spc, context, credentials: try await credentials(for: request, context.credentials))
    }

    /// Looks into the credential `token`. The wanted key id is the one that the key URI's query names, if any.
    public func advice(
        on credentials: CredentialSet, _ context: LicenseContext, at date: Date
    ) -> [TokenInspection.Advice] {
        guard let text = credentials.values["token"]?.revealedText, !text.isEmpty else { return [] }
        let keyID = ["kid", "keyId"].lazy.compactMap { context.keyURI.queryValue($0).flatMap { KeyID($0) } }.first
        return token.inspect(
            text, keyID: keyID, contentID: context.contentIdentifier.text, purpose: context.purpose, settings: settings,
            at: date
        ).advice
    }

    public func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        try errors.check(exchange.reply)
        do {
            let ckc = try decoder.contentKeyContext(from: exchange.reply.body)
            let json = JSONReply(exchange.reply.body)
            let values = sideValues.compactMapValues { json?.text(at: $0).map { Secret($0) } }
            return License(ckc: ckc, terms: terms?.terms(of: json, settings: settings), sideValues: values)
        } catch {
            throw error.with(errors.summary(of: exchange.reply))
        }
    }

    /// Insists on the required settings that a request reads; the other request may be the player's own.
    func requireSettings(of rule: RequestRule) throws(IntegrationError) {
        let read = rule.names.settings
        guard let missing = missingSettings.first(where: read.contains) else { return }
        throw IntegrationError(
            .missingSetting, "\(name) needs the setting \"\(missing)\".",
            remedy: "Give the integration the setting \"\(missing)\".")
    }

    /// Asks the app only where the request carries a credential, and insists on those that the profile requires.
    func credentials(
        for rule: RequestRule, _ ask: @Sendable () async throws -> CredentialSet
    ) async throws -> CredentialSet {
        let wanted = rule.names.credentials
        guard !wanted.isEmpty else { return .none }
        return try checked(try await ask(), for: rule)
    }

    /// Insists on the credentials that the profile requires.
    func checked(_ given: CredentialSet, for rule: RequestRule) throws(IntegrationError) -> CredentialSet {
        if let parameter = missingCredentials(in: given, for: rule).first {
            throw IntegrationError(
                .missingCredential, "\(name) needs the credential \"\(parameter.name)\" (\(parameter.meaning)).")
        }
        return given
    }

    func missingCredentials(in given: CredentialSet, for rule: RequestRule) -> [Parameter] {
        let wanted = rule.names.credentials
        return parameters.filter { parameter in
            parameter.isCredential && parameter.isRequired && wanted.contains(parameter.name)
                && given.values[parameter.name].map { $0.count == 0 } ?? true
        }
    }
}
