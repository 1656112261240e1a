package import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// One request to a service, with the operations of services on requests: warn, decode, license, reply.
public struct ServiceCall: Sendable {
    /// The limit of a body in bytes, above which no service reads it: 256 KiB. An SPC has some 10 KiB, in any envelope.
    package static let bodyBytes = 256 * 1_024

    /// The request, with its path as on the vendor's own host.
    package let request: HTTPRequest
    /// The values of the parameters in the route's path.
    package let path: PathParameters
    /// The purpose of the request.
    package var endpoint: ServiceEndpoint { handler.endpoint }
    /// The ID that reply, warnings and log carry.
    package let id: String
    package var date: Date { environment.time.date }

    let fault: Fault?
    private var handler: ServiceHandler
    private let service: ServiceIdentifier
    private let environment: ServiceEnvironment

    init(
        _ request: HTTPRequest, _ path: PathParameters, _ handler: ServiceHandler, of service: ServiceIdentifier,
        _ environment: ServiceEnvironment, fault: Fault?
    ) {
        self.request = request
        self.path = path
        self.handler = handler
        self.service = service
        self.environment = environment
        self.fault = fault
        id = environment.requestIDs.next()
    }

    /// Answers the request as the route does.
    package func answer() async throws(LicenseRefusal) -> HTTPResponse { try await handler.answer(self) }

    /// The call with its answer wrapped, for services that watch others.
    package func wrapping(_ answer: @escaping ServiceHandler.Answer) -> ServiceCall {
        var call = self
        call.handler = ServiceHandler(endpoint) { [self] _ async throws(LicenseRefusal) in try await answer(self) }
        return call
    }

    /// Records that the service accepted an incorrect request.
    /// - Parameters:
    ///   - code: a stable name of the fault.
    ///   - text: the request's fault, without secrets.
    package func warn(_ code: String, _ text: String) {
        environment.warn(ServiceWarning(service: service, code: code, text: text, requestID: id))
    }

    package func objection(to rule: VendorRule, _ text: String) -> LicenseRefusal? {
        guard environment.lenient.contains("\(service)/\(rule.name)") else {
            environment.breaches.add(ServiceWarning(service: service, code: rule.name, text: text, requestID: id))
            return LicenseRefusal(rule.refusal, reason: text)
        }
        warn(rule.name, text)
        return nil
    }

    /// The application certificate in DER form, damaged by the fault if there is one.
    package func certificate() throws(LicenseRefusal) -> Data {
        guard let certificate = environment.authority.certificate else {
            throw .malformed("The server has no application certificate.")
        }
        return fault?.damaged(certificate.der) ?? certificate.der
    }

    /// The certificate as a file in DER form.
    package func certificateFile() throws(LicenseRefusal) -> HTTPResponse { .octets(try certificate()) }

    /// The CKC that answers a question, damaged by the fault if there is one.
    package func ckc(for question: LicenseQuestion) async throws(LicenseRefusal) -> Data {
        ckc(of: try await license(for: question))
    }

    /// The license that answers a question.
    package func license(for question: LicenseQuestion) async throws(LicenseRefusal) -> IssuedLicense {
        try await environment.authority.license(for: question).get()
    }

    /// The CKC of a license, damaged by the fault if there is one.
    package func ckc(of license: IssuedLicense) -> Data {
        let ckc = license.ckc.revealed
        return fault?.damaged(ckc) ?? ckc
    }
}

extension ServiceCall: VendorRequest {
    package var vendorEndpoint: VendorEndpoint { endpoint == .license ? .license : .certificate }
}

extension ServiceCall {
    /// The scheme that the query names, and the host by which the client found the service, or else the loopback.
    var origin: String {
        let scheme = request.queryValue("scheme") == "https" ? "https" : "http"
        return "\(scheme)://\(request.hostName ?? "127.0.0.1")"
    }
}

extension HTTPRequest {
    /// Host and port by which the client found the server; `nil` if the field is missing or names no host.
    var hostName: String? {
        headers[.host].flatMap { $0.isMadeOfLettersDigits(and: ".-:[]", limit: 255) ? $0 : nil }
    }
}
