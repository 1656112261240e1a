import Foundation
public import LatchkeyCore
public import LatchkeyDecision
public import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// A vendor's license service, emulated from its public documentation.
///
/// A service defines its vendor's paths and how it answers them. Faults, request IDs, error replies and warnings are the same for all
/// services. `VendorServices` makes them.
public protocol VendorService: Sendable {
    /// The service's name.
    var identifier: ServiceIdentifier { get }
    /// The service's dependencies. Each service has its own environment.
    var environment: ServiceEnvironment { get }
    /// The secret fields of the vendor's requests, in addition to the usual ones.
    var redaction: Redaction { get }
    /// The vendor's own paths.
    var routes: [ServiceRoute] { get }

    /// Answers a request to one of the routes, with the fault that is set.
    func respond(to call: ServiceCall) async -> HTTPResponse

    /// The refusals that the vendor's page documents, for `Fault.refusal`. Defaults to none.
    var documentedRefusals: [DocumentedRefusal] { get }

    /// Converts a refusal to the form of the vendor's error replies. Defaults to status and plain text.
    func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse

    /// The key URI in a playlist for a key of this vendor. Defaults to `skd://` and the key's identifier.
    /// - Parameters:
    ///   - key: the key.
    ///   - host: host and port of a server that has the service below its identifier, such as `127.0.0.1:8080`.
    func keyURI(for key: StoredKey, at host: String) -> String

    /// The settings of a customer's app other than the token, by the names that `latchkey play --set` takes. Defaults to the addresses of
    /// the first certificate and the first license route.
    /// - Parameter base: the address of the service, such as `http://127.0.0.1:8080/vudrm`.
    func parameters(at base: String) -> [String: String]

    /// The same for one dialect of the vendor's clients, if their settings differ. Defaults to `parameters(at:)`.
    /// - Parameters:
    ///   - base: the service's address, without a `/` at its end.
    ///   - profile: the name that `latchkey play --vendor` takes, such as `ezdrm-template`.
    func parameters(at base: String, for profile: String) -> [String: String]

    /// A token that the service accepts now for all its keys, as an app's own server would make it. Defaults to an empty one, for
    /// vendors without tokens.
    func demoToken() -> Secret

    /// The signing keys for tokens, by the vendor's names for them, for callers that make their own tokens. Defaults to none, for services
    /// that accept any signature and for vendors whose tokens have none.
    var tokenKeys: [String: Secret] { get }
}

extension VendorService {
    public var redaction: Redaction { .standard }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] { addresses(at: base) }

    public func parameters(at base: String, for profile: String) -> [String: String] { parameters(at: base) }

    public func demoToken() -> Secret { Secret("") }

    public var tokenKeys: [String: Secret] { [:] }

    public var documentedRefusals: [DocumentedRefusal] { [] }

    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        .plain(refusal)
    }

    public func respond(to call: ServiceCall) async -> HTTPResponse {
        if let replacement = call.fault?.replacement { return replacement }
        // Cut short if the exchange's deadline cancels the task; the reply is then discarded.
        if case .delay(let time) = call.fault { try? await environment.time.sleep(for: time) }
        do throws(LicenseRefusal) {
            if let refusal = call.fault?.refusal(by: self, at: call.endpoint) { throw refusal }
            return try await call.answer()
        } catch {
            environment.log("refused, request \(call.id): \(error.code): \(error.reason)")
            var response = reply(to: error, of: call)
            if case .method(let allowed) = error.kind { response.headers[.allow] = allowed }
            return response
        }
    }

    /// The restrictions on the vendor's page, which the service enforces unless its environment is lenient.
    package var rules: [VendorRule] { (self as? any VendorAPIService)?.wireRules ?? [] }

    /// The names by which `ServiceEnvironment.lenient` lets rules be broken, such as `vudrm/tokenOnce`.
    package var ruleNames: [String] { rules.map { "\(identifier)/\($0.name)" } }

    /// Makes the service misbehave.
    public var faults: FaultSwitch { environment.faults }

    /// The undocumented forms that the service accepted so far; the latest 1,000.
    public var warnings: [ServiceWarning] { environment.warnings.all }

    /// The rules for whose breach the service refused requests, by name, each with the last request's fault and the page's sentence.
    package var brokenRules: [(name: String, text: String)] {
        let breaches = environment.breaches.all
        return rules.compactMap { rule in
            breaches.last { $0.code == rule.name }.map {
                ("\(identifier)/\(rule.name)", "\($0.text) The vendor's page: \(rule.text)")
            }
        }
    }

    /// Answers a request. Every reply to a path of the vendor's carries `x-request-id`.
    /// - Parameter request: the request, with its path as on the vendor's own host.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        await MountedService(self).respond(to: request)
    }

    /// `certificateURL` and `licenseURL`: the addresses of the first certificate and the first license route.
    func addresses(at base: String) -> [String: String] {
        var addresses: [String: String] = [:]
        for (name, endpoint) in [("certificateURL", ServiceEndpoint.certificate), ("licenseURL", .license)] {
            addresses[name] = routes.first { $0.handler.endpoint == endpoint }.map { base + $0.path.text }
        }
        return addresses
    }
}

extension ServiceHandler {
    /// Answers a request as the vendor would, or throws the refusal, which the service converts to the vendor's form.
    package typealias Answer = @Sendable (ServiceCall) async throws(LicenseRefusal) -> HTTPResponse
}
