import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
package import LatchkeyHTTP
import LatchkeyPackaging
import LatchkeyVendorWire

/// The addresses of a tenant that players use.
///
/// - `POST /t/{tenant}/fairplay`: an SPC as it is, or JSON with `spc` in base64; a CKC in the same form.
/// - `GET /t/{tenant}/certificate`: the application certificate in DER form.
/// - `POST /t/{tenant}/clearkey`: keys for a browser, where the tenant allows it.
/// - `POST /t/{tenant}/sessions/heartbeat`: the session plays on. `DELETE /t/{tenant}/sessions`: it is over. Both with the heartbeat's
///   token.
/// - `POST /t/{tenant}/slots`: a slot for a license that another service makes, where the tenant allows it. `POST …/slots/heartbeat` and
///   `DELETE …/slots` are as those of `sessions`; `GET …/slots/openapi.json` describes the four.
///
/// Source: `Documentation/LicenseServer.md` §1 and §10.
package struct PlayerAPI: Sendable {
    /// The most bytes of a body: an SPC has some 10 KiB, in any form.
    package static let bodyBytes = 64 * 1_024

    /// The routes with their endpoints, whose names appear in logs and metrics.
    static let routes: [Route<RequestEndpoint>] = [
        Route([.post], "/t/{tenant}/fairplay", .fairPlay),
        Route([.get, .head], "/t/{tenant}/certificate", .certificate),
        Route([.post], "/t/{tenant}/clearkey", .clearKey),
        Route([.post], "/t/{tenant}/sessions/heartbeat", .heartbeat),
        Route([.delete], "/t/{tenant}/sessions", .session), Route([.post], "/t/{tenant}/slots", .slot),
        Route([.delete], "/t/{tenant}/slots", .session), Route([.post], "/t/{tenant}/slots/heartbeat", .heartbeat),
        Route([.get, .head], "/t/{tenant}/slots/openapi.json", .slotDescription),
    ]
    private static let router = Router(routes)

    private let issuer: LicenseIssuer
    private let accounts: AccountSessions
    private let tenants: [String: Tenant]
    private let callers: CallerDirectory
    private let timekeeper: any Timekeeper

    /// - Parameters:
    ///   - issuer: answers license requests.
    ///   - accounts: sessions.
    ///   - tenants: the tenants by their names.
    ///   - callers: which services may take slots for viewers. Defaults to none.
    ///   - timekeeper: the time. Defaults to the machine's.
    package init(
        issuer: LicenseIssuer, accounts: AccountSessions, tenants: [String: Tenant],
        callers: CallerDirectory = CallerDirectory([]), timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.callers = callers
        self.issuer = issuer
        self.accounts = accounts
        self.tenants = tenants
        self.timekeeper = timekeeper
    }

    /// The methods of a path, for a browser's preflight; empty for a path without a player's endpoint.
    package func methods(of request: HTTPRequest) -> [HTTPMethod] {
        switch Self.router.match(request) {
        case .found(let route, _): route.methods
        case .otherMethod(_, _, let allowed): allowed
        case .notFound: []
        }
    }

    /// Answers a request. Never throws: a refusal is an answer.
    package func answer(_ call: APICall) async -> APIAnswer {
        var (report, tenant) = begun(call)
        let (response, taken) = await reply(to: call, of: tenant, &report)
        return APIAnswer(response, report, taken: taken)
    }

    /// The report of a request, already refused if no path matches; and the tenant's name.
    // Apart, so that nothing of it is in the frame of a task.
    @inline(never) private func begun(_ call: APICall) -> (LicenseReport, tenant: String) {
        func report(_ endpoint: RequestEndpoint, _ refusal: LicenseRefusal? = nil) -> LicenseReport {
            var report = LicenseReport(
                tenant: nil, endpoint: endpoint, requestID: call.requestID, at: timekeeper.uptime)
            if let refusal { report.outcome = .refused(refusal) }
            return report
        }
        switch Self.router.match(call.request) {
        case .found(let route, let path): return (report(route.handler), path["tenant"])
        case .otherMethod(let route, _, let allowed):
            let refusal = LicenseRefusal.method(call.request.method.rawValue, allowed: allowed.map(\.rawValue))
            return (report(route.handler, refusal), "")
        case .notFound: return (report(.none, .noSuchPath), "")
        }
    }

    /// A reply, and the room that its license took.
    private typealias Reply = (HTTPResponse, TakenRoom?)

    private func reply(to call: APICall, of tenant: String, _ report: inout LicenseReport) async -> Reply {
        do throws(LicenseRefusal) {
            if let refusal = report.refusal { throw refusal }
            return try await answer(report.endpoint, call, tenant, &report)
        } catch {
            return (refused(error, call, &report), nil)
        }
    }

    private func answer(
        _ endpoint: RequestEndpoint, _ call: APICall, _ name: String, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> Reply {
        guard let tenant = tenants[name] else { throw .unknownTenant("There is no such tenant.") }
        report.tenant = tenant.name
        guard call.request.body.count <= Self.bodyBytes else { throw .tooLarge }
        try call.checkCoding()
        report.outcome = .ok
        return switch endpoint {
        case .fairPlay: try await license(call, tenant, &report)
        case .certificate: (try certificate(call, tenant), nil)
        case .clearKey: try await clearKeys(call, tenant, &report)
        case .heartbeat: (try await heartbeat(call, tenant, &report), nil)
        case .session: (try await endSession(call, tenant, &report), nil)
        case .slot: try await slot(call, tenant, &report)
        case .slotDescription: (SlotDescription.response, nil)
        default: throw .noSuchPath
        }
    }

    @inline(never) private func refused(
        _ refusal: LicenseRefusal, _ call: APICall, _ report: inout LicenseReport
    ) -> HTTPResponse {
        report.outcome = .refused(refusal)
        return report.endpoint == .none ? .noSuchPath : .refusal(refusal, requestID: call.requestID)
    }
}

extension PlayerAPI {
    private func license(
        _ call: APICall, _ tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> Reply {
        let message = try LicenseMessage(call)
        let license = try await issuer.license(message.request, of: tenant, &report)
        report.outcome = license == nil ? .acknowledge : .license
        guard let license else { return (HTTPResponse(status: 204, headers: [.cacheControl: "no-store"]), nil) }
        return (message.reply(license), license.taken)
    }

    private func certificate(_ call: APICall, _ tenant: Tenant) throws(LicenseRefusal) -> HTTPResponse {
        guard let certificate = issuer.certificate(of: tenant) else { throw .noCertificate }
        let tag = "\"\(certificate.fingerprint.hexString)\""
        var response = HTTPResponse(contentType: "application/pkix-cert", bytes: certificate.der)
        if call.request.headers["If-None-Match"]?.contains(tag) == true { response = HTTPResponse(status: 304) }
        response.headers[.cacheControl] = "public, max-age=3600"
        response.headers["ETag"] = tag
        return response
    }

    /// Source: `Documentation/LicenseServer.md` §10.
    private func clearKeys(
        _ call: APICall, _ tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> Reply {
        guard let request = JSONValue(call.request.body), case .array(let names)? = request["kids"],
            (1...100).contains(names.count)
        else { throw .malformed("The body is not JSON with 1 to 100 “kids”.") }
        let kids = names.compactMap { name in
            name.text.flatMap { Base64URL.bytes(of: $0.utf8) }.flatMap { KeyID(bytes: $0) }
        }
        guard kids.count == names.count else {
            throw .malformed("One of the “kids” is not 16 bytes in base64url without padding.")
        }
        let answer = try await issuer.clearKeys(
            kids, token: call.bearerToken, viewer: call.viewer, of: tenant, &report)
        report.outcome = .license
        let keys = answer.keys.map { kid, key in
            JSONValue.object([
                "kty": .text("oct"), "kid": .text(Base64URL.text(kid.bytes)),
                "k": .text(Base64URL.text(key.key.withUnsafeBytes { Array($0) })),
            ])
        }
        var response = HTTPResponse.json(.object(["keys": .array(keys), "type": .text("temporary")]))
        response.tell(renewAfter: answer.renewAfter, heartbeatToken: answer.heartbeatToken, heartbeat: answer.heartbeat)
        return (response, answer.taken)
    }

    private func slot(
        _ call: APICall, _ tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> Reply {
        do throws(CallerRefusal) { report.caller = try tenant.slotCaller(of: call.request, callers)?.name } catch {
            throw LicenseRefusal(error)
        }
        guard tenant.settings.slots.takes(isService: report.caller != nil) else {
            throw .slotsAreOff(tenant.settings.slots)
        }
        let request = try SlotRequest(call, isOfService: report.caller != nil)
        let slot = try await issuer.slot(request, of: tenant, &report)
        report.outcome = .license
        return (.json(slot.json(for: request.drm)), slot.taken)
    }

    private func heartbeat(
        _ call: APICall, _ tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> HTTPResponse {
        guard let token = call.bearerToken else {
            throw .tokenMissing("the Authorization field")
        }
        switch await accounts.heartbeat(token, of: tenant.name) {
        case .continues(let end): return .json(.object(["until": .text(DateText.text(end))]))
        case .refused(let refusal):
            (report.account, report.session) = accounts.subject(of: token, at: tenant.name)
            throw refusal
        }
    }

    private func endSession(
        _ call: APICall, _ tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> HTTPResponse {
        guard let token = call.bearerToken else {
            throw .tokenMissing("the Authorization field")
        }
        (report.account, report.session) = accounts.subject(of: token, at: tenant.name)
        if let refusal = await accounts.release(token, of: tenant.name) { throw refusal }
        return HTTPResponse(status: 204)
    }
}

extension LicenseRefusal {
    static let tooLarge = Self(
        .vendor(code: "bodyTooLarge", status: 413), reason: "The body is larger than any valid request's.",
        remedy: "Send the SPC unchanged.")
}
