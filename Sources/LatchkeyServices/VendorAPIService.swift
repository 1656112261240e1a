import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// An emulated service over the wire that the license server speaks, too.
package protocol VendorAPIService: VendorService {
    associatedtype API: VendorAPI
    /// The vendor's wire.
    var api: API { get }

    /// Answers with the certificate. Defaults to the wire's reply.
    func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse
    /// Answers with a license. Defaults to the wire's reply.
    func reply(_ license: IssuedLicense, to call: ServiceCall) -> HTTPResponse
}

extension VendorAPIService {
    package var identifier: ServiceIdentifier { ServiceIdentifier(rawValue: api.name.rawValue) }

    package var routes: [ServiceRoute] {
        api.routes.map { route in
            switch route.handler {
            case .certificate: .certificate(route.path, certificate)
            case .license: .license(route.path, license)
            }
        }
    }

    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try api.certificate(try call.certificate(), for: call)
    }

    package func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let question = try api.licenseRequest(call)
        if question.grant.use != .any, !environment.used.add(Secret(question.grant.tokenID)) { throw .tokenUsed }
        return reply(try await call.license(for: question), to: call)
    }

    package func reply(_ license: IssuedLicense, to call: ServiceCall) -> HTTPResponse {
        api.reply(call.ckc(of: license))
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        api.reply(to: refusal, at: call.endpoint == .license ? .license : .certificate)
    }
}
