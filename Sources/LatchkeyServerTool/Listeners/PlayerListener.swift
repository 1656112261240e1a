import LatchkeyCore
import LatchkeyFaces
import LatchkeyHTTP
import LatchkeyServer

/// What players' requests pass: rate limits, the tenant's pages, the face; then log and metrics.
struct PlayerListener: Sendable {
    let shared: ServerShared
    let state: @Sendable () -> ServerState
    private let timekeeper = SystemTimekeeper()
    private let generator = SharedGenerator()

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let state = state()
        let pages = state.pages(for: request)
        if let preflight = pages?.preflight(request) { return preflight }
        var generator = generator
        let (id, trace) = (
            RequestID(of: request, using: &generator), TraceContext(of: request.headers, using: &generator)
        )
        let viewer = state.viewer(of: request)
        let answer = await answer(FaceCall(request, requestID: id.text, viewer: viewer), state)
        var response = pages?.allowing(answer.response, for: request) ?? answer.response
        response.headers[.requestID] = id.text
        shared.note(answer.report, status: response.status, id, trace, viewer.address, at: timekeeper.uptime)
        return response
    }

    private func answer(_ call: FaceCall, _ state: ServerState) async -> FaceAnswer {
        if let (scope, wait) = refusal(of: call, state) {
            shared.metrics.rateLimited[scope.rawValue].add()
            var report = LicenseReport(tenant: nil, face: "none", requestID: call.requestID, at: timekeeper.uptime)
            let refusal = PolicyRefusal(
                LicenseRefusal(.policy(.rateLimit), reason: "The \(scope.rawValue) asks too often."), retryAfter: wait)
            report.outcome = refusal.refusal.code
            report.refusal = refusal.refusal
            return FaceAnswer(.refusal(refusal, requestID: call.requestID), report)
        }
        guard call.request.method == .post else { return await answered(call, state) }
        guard shared.door.begin() else { return shed(call) }
        let began = timekeeper.uptime
        let answer = await answered(call, state)
        let now = timekeeper.uptime
        shared.door.end(after: now - began, at: now)
        return answer
    }

    /// The answer of a vendor's face, or else of the native one.
    private func answered(_ call: FaceCall, _ state: ServerState) async -> FaceAnswer {
        if let answer = await state.vendors.answer(call) { return answer }
        return await state.players.answer(call)
    }

    /// Refuses what comes beyond the requests that the node works on at once, before it costs anything.
    private func shed(_ call: FaceCall) -> FaceAnswer {
        shared.metrics.shed[AdmissionLane.start.name, ShedReason.full.rawValue].add()
        var report = LicenseReport(tenant: nil, face: "fairplay", requestID: call.requestID, at: timekeeper.uptime)
        // Spread, so that those who are refused together do not come back together.
        let refusal = PolicyRefusal(
            LicenseRefusal(.overloaded, reason: "The server has more requests than it can answer in time."),
            retryAfter: .seconds(Int.random(in: 1...5)))
        report.outcome = refusal.refusal.code
        report.refusal = refusal.refusal
        return FaceAnswer(.refusal(refusal, requestID: call.requestID), report)
    }

    /// The limit that a request is beyond, and after how long it may come again.
    private func refusal(of call: FaceCall, _ state: ServerState) -> (RateScope, Duration)? {
        let limiter = shared.limiter
        if let address = call.viewer.address,
            let wait = limiter.refusal(.address, AddressCut.limits.range(of: address))
        {
            return (.address, wait)
        }
        guard let tenant = state.tenant(of: call.request), let wait = limiter.refusal(.tenant, tenant) else {
            return nil
        }
        return (.tenant, wait)
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
        if let refusal = report.refusal { feed.refused(refusal, report) }
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
