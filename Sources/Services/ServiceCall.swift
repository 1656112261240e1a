public import Foundation
import LatchkeyCore
import LatchkeyFairPlay
public import LatchkeyHTTP
public import LatchkeyServer

/// One request to a service, and what services do with requests: check, warn, decode, license, reply.
public struct ServiceCall: Sendable {
    /// The request, its path as on the vendor's own host.
    public let request: HTTPRequest
    /// What it is for.
    public let endpoint: ServiceEndpoint
    /// The number that reply, warnings and log carry.
    public let id: String

    let fault: Fault?
    private let service: ServiceIdentifier
    private let environment: ServiceEnvironment

    init(
        _ request: HTTPRequest, at endpoint: ServiceEndpoint, of service: ServiceIdentifier,
        _ environment: ServiceEnvironment, fault: Fault?
    ) {
        self.request = request
        self.endpoint = endpoint
        self.service = service
        self.environment = environment
        self.fault = fault
        id = environment.requestIDs.next()
    }

    /// Records that something was let pass.
    /// - Parameters:
    ///   - code: a stable name of it.
    ///   - text: what the request did, without secrets.
    public func warn(_ code: String, _ text: String) {
        environment.warn(ServiceWarning(service: service, code: code, text: text, requestID: id))
    }

    /// Refuses other methods.
    public func require(_ methods: String...) throws(LicenseRefusal) {
        guard methods.contains(request.method) else {
            throw LicenseRefusal(
                .method(allowed: methods.joined(separator: ", ")),
                reason: "The endpoint does not take \(request.method.prefix(20)).",
                remedy: "Use \(methods.joined(separator: " or ")).")
        }
    }

    /// The bytes of a base64 text: padded and standard, or else, with a warning, however it is written.
    public func base64(_ text: String, in field: String) throws(LicenseRefusal) -> Data {
        if let bytes = Data(base64Encoded: text), !bytes.isEmpty { return bytes }
        guard let bytes = Data(lenientBase64: text) else { throw .malformed("“\(field)” is not base64.") }
        warn("base64", "“\(field)” is not standard base64 with padding")
        return bytes
    }

    /// The application certificate in DER form, or what the fault leaves of it.
    public func certificate() throws(LicenseRefusal) -> Data {
        guard let certificate = environment.authority.certificate else {
            throw .malformed("The server has no application certificate.")
        }
        return fault?.damaged(certificate.der) ?? certificate.der
    }

    /// The CKC that answers a question, or what the fault leaves of it.
    public func ckc(for question: LicenseQuestion) async throws(LicenseRefusal) -> Data {
        ckc(of: try await license(for: question))
    }

    /// The license that answers a question.
    public func license(for question: LicenseQuestion) async throws(LicenseRefusal) -> IssuedLicense {
        try await environment.authority.license(for: question).get()
    }

    /// The CKC of a license, or what the fault leaves of it.
    public func ckc(of license: IssuedLicense) -> Data {
        let ckc = license.ckc.revealed
        return fault?.damaged(ckc) ?? ckc
    }
}

extension LicenseRefusal {
    /// A request that lacks something or says it in a wrong form.
    static func malformed(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(.malformedRequest, reason: reason, remedy: "Send the request as the vendor documents it.")
    }

    /// A body of a type that the endpoint does not take.
    static func mediaType(_ type: String?) -> LicenseRefusal {
        LicenseRefusal(
            .mediaType, reason: "The endpoint does not take a body of type \(type?.prefix(60) ?? "none").",
            remedy: "Set the Content-Type that the vendor documents.")
    }

    /// No token where one is needed.
    static func tokenMissing(_ place: String) -> LicenseRefusal {
        LicenseRefusal(.tokenMissing, reason: "There is no token in \(place).", remedy: "Send a fresh token.")
    }

    /// A token of another form.
    static func tokenMalformed(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(.tokenMalformed, reason: reason, remedy: "Ask the vendor's token service for a token.")
    }

    /// A token that is good for one request, sent again.
    static let tokenUsed = LicenseRefusal(
        .tokenUsed, reason: "The token was used before.", remedy: "Send a fresh token with every request.")

    /// A token whose time is over.
    static func tokenExpired(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(.tokenExpired, reason: reason, remedy: "Send a fresh token.")
    }

    /// A token whose time has not come.
    static func tokenNotYetValid(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(.tokenNotYetValid, reason: reason, remedy: "Compare the clocks of server and token service.")
    }

    /// A customer's name that is not the configured one.
    static func unknownTenant(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(.unknownTenant, reason: reason, remedy: "Check the customer's name with the vendor.")
    }

    /// A refusal that the fault switch asks for.
    static func asTold(_ code: String, _ status: Int) -> LicenseRefusal {
        LicenseRefusal(
            .vendor(code: code, status: status), reason: "The service was told to refuse.",
            remedy: "Clear the service's fault.")
    }

    /// A token for something else.
    static func notCovered(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(.notCovered, reason: reason, remedy: "Send a token that covers the key.")
    }
}
