import Foundation
import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension VendorProfile {
    public var sessionScope: SessionScope {
        guard let session else { return .never }
        return session.setting.map { settings[$0, default: ""].isEmpty } == true ? .never : .source
    }

    public func sessionRequest(_ step: SessionStep, _ context: SessionContext) async throws -> URLRequest {
        guard let rule = session?.request(step) else {
            throw IntegrationError(.missingSetting, "The profile \(identifier) knows no sessions.")
        }
        try requireSettings(of: rule)
        var rules = RuleContext(settings: settings)
        rules.session = context.session
        rules.messageID = context.messageID
        rules.credentials = try await credentials(for: rule, context.credentials)
        return try rule.request(rules, for: "session URL")
    }

    public func session(from exchange: HTTPExchange, _ step: SessionStep) throws -> SessionReply {
        try session?.reply(exchange.reply, to: step, errors) ?? SessionReply()
    }

    public func sessionRenewal(after license: License) -> SessionRenewal {
        session?.enforcedBy.flatMap { license.sideValues[$0] } == nil ? .heartbeat : .enforced
    }
}
