import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// All tenants' vendor APIs: `/t/{tenant}/vudrm/…` and so on, with the vendor's own paths below.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct VendorAPIs: Sendable {
    private struct Mounted: Sendable {
        let api: any VendorAPI
        let tenant: Tenant
        let router: Router<VendorEndpoint>
    }

    private let issuer: LicenseIssuer
    private let mounted: [String: Mounted]
    private let timekeeper: any Timekeeper

    /// - Parameters:
    ///   - issuer: answers license requests.
    ///   - tenants: the tenants, each with its APIs.
    ///   - timekeeper: the time. Defaults to the machine's.
    package init(
        issuer: LicenseIssuer, tenants: [(Tenant, [any VendorAPI])], timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.issuer = issuer
        self.timekeeper = timekeeper
        var mounted: [String: Mounted] = [:]
        for (tenant, apis) in tenants {
            for api in apis {
                mounted[Self.place(tenant.name, type(of: api).name.rawValue)] = Mounted(
                    api: api, tenant: tenant, router: Router(api.routes))
            }
        }
        self.mounted = mounted
    }

    /// Every address of every tenant's APIs: the tenant, the API's base path, and the route below it.
    var routes: [(tenant: String, base: String, route: Route<VendorEndpoint>)] {
        mounted.sorted { $0.key < $1.key }.flatMap { base, one in one.router.routes.map { (one.tenant.name, base, $0) }
        }
    }

    /// Answers a request. Never throws: a refusal is an answer.
    /// - Returns: `nil` for an address without an endpoint.
    package func answer(_ call: APICall) async -> APIAnswer? {
        // Most requests are not for a vendor's API, and skip the rest.
        guard let (mounted, below) = mounted(for: call.request) else { return nil }
        return await answer(call, mounted, below)
    }

    private func answer(_ call: APICall, _ mounted: Mounted, _ below: HTTPRequest) async -> APIAnswer {
        let uptime = timekeeper.uptime
        func report(_ kind: VendorEndpoint) -> LicenseReport {
            LicenseReport(
                tenant: mounted.tenant.name, endpoint: .vendor(type(of: mounted.api).name, kind),
                requestID: call.requestID, at: uptime)
        }
        func vendorCall(_ path: PathParameters, _ kind: VendorEndpoint) -> VendorAPICall {
            VendorAPICall(
                request: below, path: path, vendorEndpoint: kind, date: timekeeper.date, id: call.requestID)
        }
        switch mounted.router.match(below) {
        case .notFound:
            var report = report(.certificate)
            report.outcome = .refused(.noSuchPath)
            return APIAnswer(.noSuchPath, report)
        case .otherMethod(let route, let path, let allowed):
            let refusal = LicenseRefusal.method(call.request.method.rawValue, allowed: allowed.map(\.rawValue))
            return refused(refusal, vendorCall(path, route.handler), mounted, report(route.handler))
        case .found(let route, let path):
            let kind = route.handler
            var report = report(kind)
            let vendorCall = vendorCall(path, kind)
            do throws(LicenseRefusal) {
                try call.checkCoding()
                let (response, taken) = try await answer(vendorCall, call.viewer, mounted, &report)
                return APIAnswer(response, report, taken: taken)
            } catch {
                return refused(error, vendorCall, mounted, report)
            }
        }
    }

    /// The methods of a path, for a browser's preflight; `nil` for an address without an endpoint.
    package func methods(of request: HTTPRequest) -> [HTTPMethod]? {
        guard let (mounted, below) = mounted(for: request) else { return nil }
        return switch mounted.router.match(below) {
        case .found(let route, _): route.methods
        case .otherMethod(_, _, let allowed): allowed
        case .notFound: []
        }
    }

    /// The API of a request's address, and the request below it.
    private func mounted(for request: HTTPRequest) -> (Mounted, HTTPRequest)? {
        guard !mounted.isEmpty else { return nil }
        let parts = request.path.split(separator: "/", maxSplits: 3)
        guard parts.count >= 3, parts[0] == "t" else { return nil }
        let place = Self.place(String(parts[1]), String(parts[2]))
        guard let mounted = mounted[place], let below = request.below(place) else { return nil }
        return (mounted, below)
    }

    private static func place(_ tenant: String, _ api: String) -> String { "/t/\(tenant)/\(api)" }

    private func answer(
        _ call: VendorAPICall, _ viewer: LicenseRequestFacts, _ mounted: Mounted, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> (HTTPResponse, TakenRoom?) {
        guard call.vendorEndpoint == .license else {
            guard let certificate = issuer.certificate(of: mounted.tenant) else { throw .noCertificate }
            report.outcome = .ok
            return (try mounted.api.certificate(certificate.der, for: call), nil)
        }
        guard call.request.body.count <= PlayerAPI.bodyBytes else {
            throw .malformed("The body is larger than any valid license request's.")
        }
        var question = try mounted.api.licenseRequest(call)
        // Where a vendor's players send no token, the license address that the app is given has the tenant's.
        if case .token(nil) = question.credentials {
            question.credentials = .token(call.request.queryValue("token"))
        }
        let license = try await issuer.license(question, of: viewer, mounted.tenant, &report)
        report.outcome = license == nil ? .acknowledge : .license
        guard let license else { return (HTTPResponse(status: 204, headers: [.cacheControl: "no-store"]), nil) }
        var response = mounted.api.reply(license.ckc.revealed, on: license.terms, to: call)
        response.headers[.cacheControl] = "no-store"
        return (response, license.taken)
    }

    private func refused(
        _ refusal: LicenseRefusal, _ call: VendorAPICall, _ mounted: Mounted, _ report: LicenseReport
    ) -> APIAnswer {
        var report = report
        report.outcome = .refused(refusal)
        var response = mounted.api.reply(to: refusal, of: call)
        response.headers[.cacheControl] = "no-store"
        response.headers[.retryAfter] = refusal.retryAfterSeconds.map(String.init)
        if case .method(let allowed) = refusal.kind { response.headers[.allow] = allowed }
        return APIAnswer(response, report)
    }
}

/// A request to a tenant's API of a vendor.
private struct VendorAPICall: VendorRequest {
    let request: HTTPRequest
    let path: PathParameters
    let vendorEndpoint: VendorEndpoint
    let date: Date
    let id: String

    /// Leniency is for the vendor's clients, and warnings about each of them would go unread.
    func warn(_ code: String, _ text: String) {}
}
