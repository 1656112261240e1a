import Foundation
import LatchkeyCore
import LatchkeyHTTP

/// The addresses of a tenant that packagers use.
///
/// - `POST /t/{tenant}/speke`: SPEKE 2.0, 2.1 and 1; `GET /t/{tenant}/speke/heartbeat` for version 1.
/// - `POST /t/{tenant}/keys/common-encryption`: the JSON of Shaka Packager.
///
/// Source: `Documentation/LicenseServer.md` §1, §2 and §4.
package struct PackagerFace: Sendable {
    /// The most bytes of a body.
    package static let bodyBytes = 256 * 1_024

    /// What is asked; the raw values stand in logs and metrics.
    private enum Face: String {
        case speke
        case heartbeat = "spekeHeartbeat"
        case commonEncryption
    }

    /// What a tenant's packagers talk to.
    package struct Exchanges: Sendable {
        let tenant: Tenant
        let speke: SPEKEExchange
        let commonEncryption: CommonEncryptionExchange
        /// Remembers what a packager got. What it throws keeps the keys from being handed out.
        let store: @Sendable ([PackagedKey]) async throws -> Void

        package init(
            tenant: Tenant, speke: SPEKEExchange, commonEncryption: CommonEncryptionExchange,
            store: @escaping @Sendable ([PackagedKey]) async throws -> Void
        ) {
            self.tenant = tenant
            self.speke = speke
            self.commonEncryption = commonEncryption
            self.store = store
        }
    }

    private static let router = Router<Face>([
        Route([.post], "/t/{tenant}/speke", .speke),
        Route([.get, .head], "/t/{tenant}/speke/heartbeat", .heartbeat),
        Route([.post], "/t/{tenant}/keys/common-encryption", .commonEncryption),
    ])

    private let tenants: [String: Exchanges]
    private let timekeeper: any Timekeeper

    /// - Parameters:
    ///   - tenants: what each tenant's packagers talk to, by the tenant's name.
    ///   - timekeeper: the time. Defaults to the machine's.
    package init(_ tenants: [String: Exchanges], timekeeper: any Timekeeper = SystemTimekeeper()) {
        self.tenants = tenants
        self.timekeeper = timekeeper
    }

    /// Answers a request. Never throws: a refusal is an answer.
    /// - Parameter isAllowed: whether the caller of the request has a right at a tenant.
    package func answer(_ call: FaceCall, isAllowed: (Tenant, CallerRight) -> Bool) async -> FaceAnswer {
        let uptime = timekeeper.uptime
        var report = LicenseReport(tenant: nil, face: "none", requestID: call.requestID, at: uptime)
        switch Self.router.match(call.request) {
        case .notFound:
            report.outcome = "noSuchPath"
            return FaceAnswer(.noSuchPath, report)
        case .otherMethod(_, _, let allowed):
            return refused(.method(call.request.method, allowed: allowed), call, &report)
        case .found(let route, let path):
            report = LicenseReport(tenant: nil, face: route.handler.rawValue, requestID: call.requestID, at: uptime)
            // An unknown tenant is refused like an unknown caller, so that nobody learns the tenants' names.
            guard let exchanges = tenants[path["tenant"]], isAllowed(exchanges.tenant, .packageKeys) else {
                return refused(.unknownCaller, call, &report)
            }
            report.tenant = exchanges.tenant.name
            guard call.request.body.count <= Self.bodyBytes else { return refused(.tooLarge, call, &report) }
            switch route.handler {
            case .speke:
                let outcome = await exchanges.speke.answer(call.request.headers, body: call.request.body)
                return await handingOut(outcome.keys, outcome.response, call, exchanges, &report)
            case .commonEncryption:
                let outcome = await exchanges.commonEncryption.answer(call.request.body)
                return await handingOut(outcome.keys, outcome.response, call, exchanges, &report)
            case .heartbeat:
                report.outcome = "ok"
                return FaceAnswer(SPEKEExchange.heartbeat, report)
            }
        }
    }

    private func refused(_ refusal: LicenseRefusal, _ call: FaceCall, _ report: inout LicenseReport) -> FaceAnswer {
        report.outcome = refusal.code
        report.refusal = refusal
        var response = HTTPResponse.refusal(PolicyRefusal(refusal), requestID: call.requestID)
        if refusal.status == 401 { response.headers["WWW-Authenticate"] = "Bearer" }
        return FaceAnswer(response, report)
    }

    /// A reply with keys, once they are remembered: a license could not be made otherwise.
    private func handingOut(
        _ keys: [PackagedKey], _ response: HTTPResponse, _ call: FaceCall, _ exchanges: Exchanges,
        _ report: inout LicenseReport
    ) async -> FaceAnswer {
        report.outcome = response.status == 200 && !keys.isEmpty ? "keys" : "refused"
        guard !keys.isEmpty else { return FaceAnswer(response, report) }
        do { try await exchanges.store(keys) } catch {
            return refused(
                LicenseRefusal(.policy(.storeUnavailable), reason: "The keys cannot be stored."), call, &report)
        }
        return FaceAnswer(response, report)
    }
}

extension LicenseRefusal {
    static let unknownCaller = Self(
        .vendor(code: "unknownCaller", status: 401), reason: "The caller is not known here, or may not do this.",
        remedy: "Send the API key or the client certificate that the tenant's configuration names.")
}
