import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// An emulated service over the wire that the license server speaks, too.
package protocol VendorAPIService: VendorService {
    associatedtype API: VendorAPI
    /// The vendor's wire.
    var api: API { get }

    /// Reads a license request and checks its token. Defaults to the wire's question, with the grant of `grant`.
    func question(_ call: ServiceCall) throws(LicenseRefusal) -> LicenseQuestion
    /// Checks a token as the vendor does, and returns its grant. Defaults to an empty grant for any token.
    func grant(_ token: String?, _ question: LicenseQuestion, _ call: ServiceCall) throws(LicenseRefusal) -> VendorGrant
    /// Answers with the certificate. Defaults to the wire's reply.
    func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse
    /// Answers with a license. Defaults to the wire's reply.
    func reply(_ license: IssuedLicense, to call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse
}

extension VendorAPIService {
    package var identifier: ServiceIdentifier { ServiceIdentifier(rawValue: API.name.rawValue) }

    package var routes: [ServiceRoute] { wireRoutes }

    var wireRules: [VendorRule] { API.rules }

    /// The paths that the license server also has.
    var wireRoutes: [ServiceRoute] {
        api.routes.map { route in
            switch route.handler {
            case .certificate: route.answering(ServiceHandler(.certificate, certificate))
            case .license: route.answering(ServiceHandler(.license, license))
            }
        }
    }

    package func question(_ call: ServiceCall) throws(LicenseRefusal) -> LicenseQuestion {
        var question = try api.licenseRequest(call)
        if case .token(let token) = question.credentials { question.grant = try grant(token, question, call) }
        return question
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant { question.grant }

    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try api.certificate(try call.certificate(), for: call)
    }

    package func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let question = try question(call)
        if question.grant.use != .any, !environment.used.add(Secret(question.grant.tokenID)) {
            guard let once = API.rules.first(where: { $0.refusal == .tokenUsed }) else { throw .tokenUsed }
            try call.breach(of: once, LicenseRefusal.tokenUsed.reason)
        }
        return try reply(try await call.license(for: question), to: call)
    }

    package func reply(_ license: IssuedLicense, to call: ServiceCall) -> HTTPResponse {
        api.reply(call.ckc(of: license), on: license.terms, to: call)
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        api.reply(to: refusal, of: call)
    }
}
