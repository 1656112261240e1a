import LatchkeyCore
import LatchkeyFaces
import LatchkeyHTTP
import LatchkeyServer

/// What players' requests pass: rate limits, the tenant's pages, the face; then log and metrics.
struct PlayerListener: Sendable {
    let shared: ServerShared
    let state: @Sendable () -> ServerState
    private let timekeeper = SystemTimekeeper()

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let state = state()
        let pages = state.pages(for: request)
        if let preflight = pages?.preflight(request) { return preflight }
        var generator = SystemRandomNumberGenerator()
        let (id, trace) = (RequestID(of: request), TraceContext(of: request.headers, using: &generator))
        let viewer = state.viewer(of: request)
        let answer = await answer(FaceCall(request, requestID: id.text, viewer: viewer), state)
        var response = pages?.allowing(answer.response, for: request) ?? answer.response
        response.headers[.requestID] = id.text
        shared.note(answer.report, status: response.status, id, trace, viewer.address, at: timekeeper.uptime)
        return response
    }

    private func answer(_ call: FaceCall, _ state: ServerState) async -> FaceAnswer {
        if let address = call.viewer.address,
            let wait = shared.limiter.refusal(.address, AddressCut.limits.range(of: address).description)
        {
            shared.metrics.rateLimited[RateScope.address.rawValue].add()
            var report = LicenseReport(tenant: nil, face: "none", requestID: call.requestID, at: timekeeper.uptime)
            let refusal = PolicyRefusal(
                LicenseRefusal(.policy(.rateLimit), reason: "The address asks too often."), retryAfter: wait)
            report.outcome = refusal.refusal.code
            report.refusal = refusal.refusal
            return FaceAnswer(.refusal(refusal, requestID: call.requestID), report)
        }
        if let answer = await state.vendors.answer(call) { return answer }
        return await state.players.answer(call)
    }
}

extension ServerShared {
    /// Counts and logs a player's request.
    fileprivate func note(
        _ report: LicenseReport, status: Int, _ id: RequestID, _ trace: TraceContext, _ address: AddressRange?,
        at uptime: Duration
    ) {
        let duration = uptime - report.began
        let outcome = report.licenseOutcome
        if report.isLicense {
            metrics.record(
                LicenseMeasurement(
                    tenant: report.tenant ?? "", face: report.face,
                    drm: report.face == "clearkey" ? "clearkey" : "fairplay", outcome: outcome,
                    reason: report.refusal == nil ? "" : report.outcome, duration: duration, stages: report.stages))
            counts.count(outcome)
        }
        if let error = report.tokenError { metrics.tokensRejected[error.code].add() }
        if let record = report.record { decisions.keep(record) }
        var entry = LogEntry(status >= 500 ? .error : .info, .license)
        (entry.requestID, entry.trace, entry.tenant, entry.face) = (id, trace, report.tenant, report.face)
        (entry.outcome, entry.status, entry.duration) = (outcome.rawValue, status, duration)
        (entry.keyID, entry.address) = (report.kid, address)
        entry.reason = report.refusal == nil ? nil : report.tokenError?.code ?? report.outcome
        entry.user = report.record.map(\.facts.grant.account)
        log.write(entry)
    }
}

extension LicenseReport {
    /// Whether a license was asked for, and not a certificate or a heartbeat.
    fileprivate var isLicense: Bool {
        face == "fairplay" || face == "clearkey" || VendorFaceName(rawValue: face) != nil
    }

    fileprivate var licenseOutcome: LicenseOutcome {
        guard let refusal else { return outcome == "acknowledge" ? .acknowledged : .granted }
        if refusal.kind == .overloaded { return .shed }
        return refusal.status >= 500 ? .failed : .refused
    }
}
