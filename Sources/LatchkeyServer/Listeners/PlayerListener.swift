import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyVendorWire

/// The way of players' requests: rate limits and the limit of requests under way, on the thread that has read them; then the tenant's pages
/// and the API; then log and metrics.
struct PlayerListener: Sendable {
    /// A request with the facts that are known before any work.
    private struct ReceivedRequest: Sendable {
        let call: APICall
        let id: RequestID
        let trace: TraceContext
        let uptime: Duration
        /// The tenant whose address it has.
        let tenant: String?

        /// The client for the limit of requests under way: the viewers of one address, or of one network of 64 bits.
        var client: Int? { call.viewer.address.map { AddressCut.limits.range(of: $0).hashValue } }
    }

    let shared: ServerShared
    let state: @Sendable () -> ServerState
    private let generator = SharedGenerator()
    private let shedReply = ShedReply()
    private var timekeeper: any Timekeeper { shared.timekeeper }

    /// Begins a request. Refusals that cost nothing are made here, so that they wait for no thread.
    func begin(_ request: HTTPRequest) -> HTTPWork {
        let state = state()
        if request.method == .options,
            let preflight = state.pages(for: request)?.preflight(request, methods: state.methods(of: request))
        {
            return .reply(preflight)
        }
        let received = received(request, state)
        if let (scope, refusal) = refusal(of: received, state) {
            return .reply(limited(received, scope, refusal, state))
        }
        guard request.method == .post else { return .task { await answer(received, state) } }
        let lane = lane(of: request, at: received.uptime)
        guard shared.requestLimit.begin(lane, of: received.client, tenant: received.tenant) else {
            return .reply(shed(received, lane, state))
        }
        return .task { await answer(received, state) }
    }

    private func received(_ request: HTTPRequest, _ state: ServerState) -> ReceivedRequest {
        var generator = generator
        let id = RequestID(of: request, using: &generator, node: shared.nodeName)
        return ReceivedRequest(
            call: APICall(request, requestID: id.text, viewer: state.viewer(of: request)), id: id,
            trace: TraceContext(of: request.headers, using: &generator), uptime: timekeeper.uptime,
            tenant: state.tenant(of: request))
    }

    private func answer(_ received: ReceivedRequest, _ state: ServerState) async -> HTTPResponse {
        let answer = await shared.recorded(await answered(received, state), received.call)
        let now = timekeeper.uptime
        if received.call.request.method == .post {
            let wasShed = answer.report.refusal?.kind == .overloaded
            shared.requestLimit.end(
                after: now - received.uptime, wasShed: wasShed, of: received.client, tenant: received.tenant, at: now)
        }
        if let lease = answer.report.lease, let credential = received.call.request.credential {
            shared.playbacks.note(credential, until: now + lease)
        }
        return finished(answer, received, state)
    }

    /// Notes the outcome of a request, and completes its reply.
    private func finished(_ answer: APIAnswer, _ received: ReceivedRequest, _ state: ServerState) -> HTTPResponse {
        let request = received.call.request
        var response = answer.response
        response.headers[.requestID] = received.id.text
        response = state.forPages(response, to: request)
        shared.note(
            answer.report, status: response.status, received.id, received.trace, received.call.viewer.address,
            at: timekeeper.uptime)
        return response
    }

    /// Heartbeats, and requests with a token for which there is a license that holds: their playback would stop.
    private func lane(of request: HTTPRequest, at uptime: Duration) -> AdmissionLane {
        if request.isHeartbeat { return .renewal }
        return request.credential.map { shared.playbacks.runs($0, at: uptime) } == true ? .renewal : .start
    }

    /// The answer of a vendor's API, or else of the native one.
    private func answered(_ received: ReceivedRequest, _ state: ServerState) async -> APIAnswer {
        let call = received.call
        if call.request.method == .post, shared.record?.refuses == true, !call.request.isHeartbeat {
            return unrecorded(received)
        }
        if let answer = await state.vendors.answer(call) { return answer }
        return await state.players.answer(call)
    }

    // Apart, so that nothing of it is in the frame of a task.
    @inline(never) private func unrecorded(_ received: ReceivedRequest) -> APIAnswer {
        .unrecorded(report(.recordUnavailable, .fairPlay, received), received.call)
    }

    /// The refusal of a client that asks too often.
    private func limited(
        _ received: ReceivedRequest, _ scope: RateScope, _ refusal: LicenseRefusal, _ state: ServerState
    ) -> HTTPResponse {
        shared.metrics.rateLimited[scope.rawValue].add()
        let response = HTTPResponse.refusal(refusal, requestID: received.id.text)
        // Counted where licenses are counted: alerts look at viewers' outcomes.
        let request = received.call.request
        let endpoint = request.method == .post && !request.isHeartbeat ? RequestEndpoint.fairPlay : .none
        return turnedAway(response, report(refusal, endpoint, received), received, state)
    }

    private func shed(_ received: ReceivedRequest, _ lane: AdmissionLane, _ state: ServerState) -> HTTPResponse {
        shared.metrics.shed[lane.name, ShedReason.full.rawValue].add()
        return turnedAway(
            shedReply.response(to: received.id), report(ShedReply.refusal, .fairPlay, received), received, state)
    }

    private func turnedAway(
        _ response: HTTPResponse, _ report: LicenseReport, _ received: ReceivedRequest, _ state: ServerState
    ) -> HTTPResponse {
        shared.record?.note(report, received.call.viewer)
        return finished(APIAnswer(response, report), received, state)
    }

    private func report(_ refusal: LicenseRefusal, _ endpoint: RequestEndpoint, _ received: ReceivedRequest)
        -> LicenseReport
    {
        var report = LicenseReport(
            tenant: received.tenant, endpoint: endpoint, requestID: received.id.text, at: received.uptime)
        report.outcome = .refused(refusal)
        return report
    }

    /// The limit that a request is beyond, and the refusal.
    private func refusal(of received: ReceivedRequest, _ state: ServerState) -> (RateScope, LicenseRefusal)? {
        let limiter = shared.limiter
        let tooOften = { (scope: RateScope, wait: Duration) in
            (
                scope,
                LicenseRefusal(
                    .policy(.rateLimit), reason: "The \(scope.rawValue) sends too many requests.", retryAfter: wait)
            )
        }
        if let address = received.call.viewer.address,
            let wait = limiter.refusal(.address, AddressCut.limits.range(of: address))
        {
            return tooOften(.address, wait)
        }
        guard let tenant = received.tenant.flatMap({ state.tenants[$0] }) else { return nil }
        let own = tenant.settings.limits.rate
        guard let wait = limiter.refusal(.tenant, tenant.name, own: own) else { return nil }
        return own == nil
            ? tooOften(.tenant, wait) : (.tenant, tenant.usage.refusal(.requestsPerSecond, wait: wait))
    }
}

extension ServerShared {
    /// Counts and logs a player's request.
    fileprivate func note(
        _ report: LicenseReport, status: Int, _ id: RequestID, _ trace: TraceContext, _ address: AddressRange?,
        at uptime: Duration
    ) {
        if report.endpoint.isLicense {
            metrics.record(report, at: uptime)
            counts.count(LicenseOutcome(report.outcome), of: report.tenant)
            if let origin = report.keyOrigin { metrics.keyLookups[origin.rawValue].add() }
        }
        if let error = report.tokenError { metrics.tokensRejected[error.code].add() }
        if let record = report.record { decisions.keep(record) }
        let degraded = Degradation.all(
            in: report, isCalloutAway: report.tenant.flatMap { health.known(.callout, of: $0) }?.isAway == true)
        for one in degraded { metrics.licensesDegraded[one.rawValue].add() }
        // Events that the metrics count by the thousand deserve no line each, and have their own cap in the log.
        let event = LogEvent(of: report)
        if let refusal = report.refusal {
            if event == .shed { feed.shed(report) } else { feed.refused(refusal, report) }
        }
        var entry = LogEntry(report, event, status: status, at: uptime)
        (entry.requestID, entry.trace, entry.address, entry.degraded) = (id, trace, address, degraded)
        log.write(entry)
    }
}

extension HTTPRequest {
    /// The fields in which players of all APIs send their tokens.
    private static let credentialFields: [HTTPHeaderName] =
        [.authorization] + VendorAPIKind.all.flatMap(\.tokenFields)

    fileprivate var isHeartbeat: Bool { path.hasSuffix("/sessions/heartbeat") || path.hasSuffix("/slots/heartbeat") }

    /// The token as it comes, unchecked; `nil` without one in a header field.
    fileprivate var credential: String? {
        Self.credentialFields.lazy.compactMap { headers[$0] }.first
    }
}
