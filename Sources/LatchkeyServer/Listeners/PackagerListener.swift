import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault
import LatchkeyVendorWire

/// The way of packagers' requests: the API; then the audit, log and metrics.
struct PackagerListener: Sendable {
    let shared: ServerShared
    let state: @Sendable () -> ServerState

    /// Begins a request. Requests beyond the queue's limit are refused here.
    func begin(_ request: HTTPRequest) -> HTTPWork {
        let tenant = state().tenant(of: request)
        guard shared.packagers.begin(of: tenant) else { return .reply(full(request, state())) }
        return .task {
            defer { shared.packagers.end(of: tenant) }
            return await answer(request)
        }
    }

    private func full(_ request: HTTPRequest, _ state: ServerState) -> HTTPResponse {
        shared.metrics.shed[ServerMetrics.packagerLane, ShedReason.full.rawValue].add()
        let id = RequestID(of: request, node: shared.nodeName)
        let refusal = LicenseRefusal(
            .overloaded,
            reason: "There are more packagers' requests than the server can answer without slowing players down.",
            retryAfter: .seconds(Int.random(in: 1...5)))
        var report = LicenseReport(
            tenant: state.tenant(of: request), endpoint: .none, requestID: id.text, at: shared.timekeeper.uptime)
        report.outcome = .refused(refusal)
        var generator = SystemRandomNumberGenerator()
        let trace = TraceContext(of: request.headers, using: &generator)
        note(report, refusal.status, id, trace, state.viewer(of: request).address)
        var response = HTTPResponse.refusal(refusal, requestID: id.text)
        response.headers[.requestID] = id.text
        return response
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let state = state()
        var generator = SystemRandomNumberGenerator()
        let (id, trace) = (
            RequestID(of: request, using: &generator, node: shared.nodeName),
            TraceContext(of: request.headers, using: &generator)
        )
        let viewer = state.viewer(of: request)
        let answer = await state.packagers.answer(APICall(request, requestID: id.text, viewer: viewer))
        var (response, report) = (answer.response, answer.report)
        if await !audit(report) {
            let refusal = LicenseRefusal(.policy(.storeUnavailable), reason: "The audit cannot be written.")
            response = .refusal(refusal, requestID: id.text)
            report.outcome = .refused(refusal)
        }
        response.headers[.requestID] = id.text
        note(report, response.status, id, trace, viewer.address)
        return response
    }

    /// Audits who got which keys. Without an entry the keys are not handed out.
    private func audit(_ report: LicenseReport) async -> Bool {
        guard !report.keys.isEmpty, let tenant = report.tenant else { return true }
        let kids = report.keys.prefix(100).map { "\($0.kid)" }.joined(separator: " ")
        let event = AuditEvent(
            report.endpoint == .cpixImport ? .keyImported : .keyExported, of: tenant,
            by: "caller:\(report.caller ?? "a signer")", tenant: tenant,
            details: [
                "endpoint": report.endpoint.name, "kids": kids, "count": "\(report.keys.count)",
                "recipients": report.recipients.map(\.hexString).joined(separator: " "), "request": report.requestID,
            ])
        do throws(StoreError) {
            _ = try await shared.audit.append(event)
            return true
        } catch {
            shared.log.write(LogEntry(.packager, error))
            return false
        }
    }

    private func note(
        _ report: LicenseReport, _ status: Int, _ id: RequestID, _ trace: TraceContext, _ address: AddressRange?
    ) {
        shared.metrics.packagerRequests[
            report.endpoint.packagerProtocol.rawValue, report.protocolVersion, LogOutcome(report.outcome).rawValue,
            report.refusal?.code ?? ""
        ].add()
        if let refusal = report.refusal { shared.feed.refused(refusal, report) }
        var entry = LogEntry(report, .packager, status: status, at: shared.timekeeper.uptime)
        (entry.requestID, entry.trace, entry.address) = (id, trace, address)
        shared.log.write(entry)
    }
}
