import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// A vendor's license service, emulated from its public documentation.
///
/// A service says which of its vendor's paths a request is for and answers it; faults, request ids, error replies and
/// warnings are the same for all and come with the protocol.
public protocol VendorService: Sendable {
    /// The service's name.
    var identifier: ServiceIdentifier { get }
    /// What the service stands on. Each service has its own.
    var environment: ServiceEnvironment { get }
    /// What is secret in the vendor's requests beyond the usual.
    var redaction: Redaction { get }

    /// What a request is for, judged by the vendor's own paths; nil where it is none of the vendor's.
    func endpoint(of request: HTTPRequest) -> ServiceEndpoint?

    /// Answers a request as the vendor would.
    /// - Throws: the refusal, which `reply(to:of:)` puts into the vendor's form.
    func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse

    /// Puts a refusal into the form of the vendor's error replies. Default: status and plain text.
    func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse

    /// The key URI that a playlist has for a key of this vendor.
    /// - Parameters:
    ///   - key: the key.
    ///   - host: host and port under which the service is mounted below its identifier, such as `127.0.0.1:8080`.
    func keyURI(for key: StoredKey, at host: String) -> String

    /// What a customer is told beside the token, by the names that `latchkey play --set` takes.
    /// - Parameter base: the address under which the service is mounted, such as `http://127.0.0.1:8080/vudrm`.
    func parameters(at base: String) -> [String: String]

    /// A token that the service takes now for all its keys, as an app's own server would mint it. Default: empty, for vendors
    /// that have none.
    func demoToken() -> Secret
}

extension VendorService {
    public var redaction: Redaction { .standard }

    public func demoToken() -> Secret { Secret("") }

    /// Makes the service misbehave.
    public var faults: FaultSwitch { environment.faults }

    /// What the service let pass so far; the latest 1,000.
    public var warnings: [ServiceWarning] { environment.journal.all }

    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        .text("\(refusal.code): \(refusal.reason)", status: refusal.status)
    }

    /// Answers a request, with the fault that is set. Every reply carries `x-request-id`.
    ///
    /// - Parameter request: the request, its path as on the vendor's own host.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard let endpoint = endpoint(of: request) else { return .text("There is no such path.", status: 404) }
        let call = ServiceCall(
            request, at: endpoint, of: identifier, environment, fault: environment.faults.next(at: endpoint))
        var response = await reply(to: call)
        if call.fault == .wrongContentType { response.headers["Content-Type"] = "text/html" }
        response.headers["x-request-id"] = call.id
        return response
    }

    private func reply(to call: ServiceCall) async -> HTTPResponse {
        if let replacement = call.fault?.replacement { return replacement }
        // Cut short when the exchange's deadline cancels the task; the reply then goes nowhere.
        if case .delay(let time) = call.fault { try? await environment.time.sleep(for: time) }
        do throws(LicenseRefusal) {
            if case .refusal(let code, let status) = call.fault { throw .asTold(code, status) }
            return try await answer(call)
        } catch {
            var response = reply(to: error, of: call)
            if case .method(let allowed) = error.kind { response.headers["Allow"] = allowed }
            return response
        }
    }
}
