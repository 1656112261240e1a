import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyHTTP
import LatchkeyPackaging
import LatchkeyVault
import LatchkeyVendorWire

/// The addresses of a tenant that packagers use.
///
/// - `POST /t/{tenant}/speke`: SPEKE 2.0, 2.1 and 1; `GET /t/{tenant}/speke/heartbeat` for version 1.
/// - `POST /t/{tenant}/cpix`: imports a document's keys, of `?content=NAME` where it names none; `GET /t/{tenant}/cpix?content=NAME` exports a content's.
/// - `POST /t/{tenant}/keys/common-encryption`: the JSON of Shaka Packager. A tenant with signers takes their signatures, and no other
///   credentials; else the caller has to have the right.
///
/// Source: `Documentation/LicenseServer.md` §1, §2 and §4.
package struct PackagerAPI: Sendable {
    /// The most bytes of a body.
    package static let bodyBytes = 256 * 1_024

    static let routes: [Route<RequestEndpoint>] = [
        Route([.post], "/t/{tenant}/speke", .speke),
        Route([.get, .head], "/t/{tenant}/speke/heartbeat", .spekeHeartbeat),
        Route([.post], "/t/{tenant}/keys/common-encryption", .commonEncryption),
        Route([.post], "/t/{tenant}/cpix", .cpixImport), Route([.get], "/t/{tenant}/cpix", .cpixExport),
    ]
    private static let router = Router(routes)

    private let tenants: [String: Tenant]
    private let callers: CallerDirectory
    private let timekeeper: any Timekeeper

    /// - Parameters:
    ///   - tenants: the tenants by their names.
    ///   - callers: who may ask.
    ///   - timekeeper: the time. Defaults to the machine's.
    package init(
        tenants: [String: Tenant], callers: CallerDirectory, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.tenants = tenants
        self.callers = callers
        self.timekeeper = timekeeper
    }

    /// Answers a request. Never throws: a refusal is an answer.
    package func answer(_ call: APICall) async -> APIAnswer {
        let uptime = timekeeper.uptime
        func report(_ endpoint: RequestEndpoint) -> LicenseReport {
            LicenseReport(tenant: nil, endpoint: endpoint, requestID: call.requestID, at: uptime)
        }
        switch Self.router.match(call.request) {
        case .notFound:
            var report = report(.none)
            report.outcome = .refused(.noSuchPath)
            return APIAnswer(.noSuchPath, report)
        case .otherMethod(let route, _, let allowed):
            return refused(
                .method(call.request.method.rawValue, allowed: allowed.map(\.rawValue)), call, report(route.handler))
        case .found(let route, let path):
            return await answer(route.handler, call, path["tenant"], report(route.handler))
        }
    }

    private func answer(_ endpoint: RequestEndpoint, _ call: APICall, _ name: String, _ report: LicenseReport) async
        -> APIAnswer
    {
        var report = report
        // An unknown tenant is refused like an unknown caller, to keep the tenants' names secret.
        do throws(CallerRefusal) {
            if !isSigned(endpoint, tenants[name]) {
                report.caller = try callers.caller(of: call.request, with: endpoint.callerRight, for: name).name
            }
        } catch {
            return refused(LicenseRefusal(error), call, report, error.headers)
        }
        guard let tenant = tenants[name] else {
            return refused(.unknownTenant("There is no such tenant."), call, report)
        }
        report.tenant = name
        guard call.request.body.count <= Self.bodyBytes else { return refused(.tooLarge, call, report) }
        switch endpoint {
        case .spekeHeartbeat:
            report.outcome = .ok
            return APIAnswer(SPEKEExchange.heartbeat, report)
        case .speke: return await speke(call, tenant, report)
        case .commonEncryption: return await commonEncryption(call, tenant, report)
        case .cpixImport, .cpixExport: return await cpix(call, tenant, report)
        default: return refused(.noSuchPath, call, report)
        }
    }

    private func speke(_ call: APICall, _ tenant: Tenant, _ given: LicenseReport) async -> APIAnswer {
        let outcome = await tenant.speke.answer(call.request.headers, body: call.request.body)
        var report = given
        report.protocolVersion = call.request.headers["X-Speke-Version"] ?? "1"
        report.keys = outcome.keys.map(\.address)
        report.recipients = outcome.recipients
        report.outcome = outcome.refusal.map { .refused(LicenseRefusal($0)) } ?? .ok
        return APIAnswer(outcome.response, report)
    }

    private func commonEncryption(_ call: APICall, _ tenant: Tenant, _ given: LicenseReport) async -> APIAnswer {
        let outcome = await tenant.commonEncryption.answer(call.request.body)
        var report = given
        report.keys = outcome.keys.map(\.address)
        report.outcome = outcome.refusal.map { .refused($0) } ?? .ok
        return APIAnswer(outcome.response, report)
    }

    private func cpix(_ call: APICall, _ tenant: Tenant, _ given: LicenseReport) async -> APIAnswer {
        do throws(LicenseRefusal) {
            let outcome =
                given.endpoint == .cpixImport
                ? try await tenant.cpix.importing(call.request.body, CPIXExchange.Change(ofPackager: call.request))
                : try await tenant.cpix.exporting(call.request)
            var report = given
            (report.keys, report.recipients) = (outcome.keys, outcome.recipients)
            report.outcome = outcome.conflict.map { .refused($0) } ?? .ok
            return APIAnswer(outcome.response, report)
        } catch {
            return refused(error, call, given)
        }
    }

    private func isSigned(_ endpoint: RequestEndpoint, _ tenant: Tenant?) -> Bool {
        endpoint == .commonEncryption && tenant?.settings.signers.isEmpty == false
    }

    private func refused(
        _ refusal: LicenseRefusal, _ call: APICall, _ report: LicenseReport, _ headers: HTTPHeaders = [:]
    ) -> APIAnswer {
        var report = report
        report.outcome = .refused(refusal)
        var response = HTTPResponse.refusal(refusal, requestID: call.requestID)
        for field in headers.fields { response.headers.append(field.name, field.value) }
        return APIAnswer(response, report)
    }
}

extension LicenseRefusal {
    init(_ refusal: CallerRefusal) {
        self.init(
            .vendor(code: refusal.code, status: refusal.status), reason: refusal.reason, remedy: refusal.remedy)
    }
}

extension RequestEndpoint {
    /// The right that the packager needs.
    fileprivate var callerRight: CallerRight {
        switch self {
        case .commonEncryption: .readCommonEncryption
        case .cpixImport: .importKeys
        case .cpixExport: .exportKeys
        default: .readSPEKE
        }
    }
}

extension LicenseRefusal {
    /// The refusal of an address without an endpoint.
    package static let noSuchPath = LicenseRefusal(
        .vendor(code: "noSuchPath", status: 404), reason: "This address does not exist.",
        remedy: "Compare the address with the documentation: /t/TENANT and the path after it.")
}
