import LatchkeyCore

// `URLRequest` is Foundation's on Apple systems.
#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

@_spi(Integrations) extension ConfiguredVendor {
    public var sessionScope: SessionScope {
        guard let session = profile.session else { return .never }
        guard session.setting.map({ profile.settings[$0, default: ""].isEmpty }) != true else { return .never }
        return session.setup == nil ? .license : .source
    }

    public func sessionRequest(_ step: SessionStep, _ context: SessionContext) async throws -> URLRequest {
        guard let request = profile.session?.request(step) else {
            throw IntegrationError(.missingSetting, "The profile \(identifier) knows no sessions.")
        }
        try requireSettings(of: request)
        var rules = RuleContext(settings: profile.settings)
        rules.session = context.session
        rules.messageID = context.messageID
        rules.credentials = try await credentials(for: request, context.credentials)
        return try request.request(rules, for: "session URL")
    }

    public func session(from exchange: HTTPExchange, _ step: SessionStep) throws -> SessionReply {
        try profile.session?.reply(exchange.reply, to: step, profile.errors) ?? SessionReply()
    }

    public func session(openedBy license: License) -> SessionReply? { profile.session?.opened(by: license) }

    public func sessionRenewal(after license: License) -> SessionRenewal {
        profile.session?.enforcedBy.flatMap { license.sideValues[$0] } == nil ? .heartbeat : .enforced
    }
}
