import LatchkeyCore
import LatchkeyEngines
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyOperation
import LatchkeyPolicy
import LatchkeyTokens

/// What players' requests pass: rate limits and the door, on the thread that has read them; then the tenant's pages and the face; then log
/// and metrics.
struct PlayerListener: Sendable {
    /// A request with what is known before anything is done for it.
    private struct Arrival: Sendable {
        let call: FaceCall
        let id: RequestID
        let trace: TraceContext
        let uptime: Duration

        /// Who shares a place at the door: the viewers of one address, or of one network of 64 bits.
        var client: Int? { call.viewer.address.map { AddressCut.limits.range(of: $0).hashValue } }
    }

    let shared: ServerShared
    let state: @Sendable () -> ServerState
    private let generator = SharedGenerator()
    private let shedReply = ShedReply()
    private var timekeeper: any Timekeeper { shared.timekeeper }

    /// What to do for a request. What is refused before it costs anything is refused here, so that it waits for no thread.
    func begin(_ request: HTTPRequest) -> HTTPWork {
        let state = state()
        if let preflight = state.pages(for: request)?.preflight(request) { return .reply(preflight) }
        let arrival = arrival(request, state)
        if let (scope, wait) = refusal(of: arrival.call, state) { return .reply(limited(arrival, scope, wait, state)) }
        guard request.method == .post else { return .task { await answer(arrival, state) } }
        let lane = lane(of: request, at: arrival.uptime)
        guard shared.door.begin(lane, of: arrival.client) else { return .reply(shed(arrival, lane, state)) }
        return .task { await answer(arrival, state) }
    }

    private func arrival(_ request: HTTPRequest, _ state: ServerState) -> Arrival {
        var generator = generator
        let id = RequestID(of: request, using: &generator, node: shared.nodeName)
        return Arrival(
            call: FaceCall(request, requestID: id.text, viewer: state.viewer(of: request)), id: id,
            trace: TraceContext(of: request.headers, using: &generator), uptime: timekeeper.uptime)
    }

    private func answer(_ arrival: Arrival, _ state: ServerState) async -> HTTPResponse {
        let answer = await answered(arrival.call, state)
        let now = timekeeper.uptime
        if arrival.call.request.method == .post {
            let wasShed = answer.report.refusal?.kind == .overloaded
            shared.door.end(after: now - arrival.uptime, wasShed: wasShed, of: arrival.client, at: now)
        }
        if let lease = answer.report.lease, let credential = arrival.call.request.credential {
            shared.playbacks.note(credential, until: now + lease)
        }
        return finished(answer, arrival, state)
    }

    /// Notes what became of a request, and completes its reply.
    private func finished(_ answer: FaceAnswer, _ arrival: Arrival, _ state: ServerState) -> HTTPResponse {
        let request = arrival.call.request
        var response = state.pages(for: request)?.allowing(answer.response, for: request) ?? answer.response
        response.headers[.requestID] = arrival.id.text
        shared.note(
            answer.report, status: response.status, arrival.id, arrival.trace, arrival.call.viewer.address,
            at: timekeeper.uptime)
        return response
    }

    /// Heartbeats, and requests with a token for which there is a license that holds: their playback would stop.
    private func lane(of request: HTTPRequest, at uptime: Duration) -> AdmissionLane {
        if request.path.hasSuffix("/sessions/heartbeat") { return .renewal }
        return request.credential.map { shared.playbacks.runs($0, at: uptime) } == true ? .renewal : .start
    }

    /// The answer of a vendor's face, or else of the native one.
    private func answered(_ call: FaceCall, _ state: ServerState) async -> FaceAnswer {
        if let answer = await state.vendors.answer(call) { return answer }
        return await state.players.answer(call)
    }

    /// The refusal of somebody who asks too often.
    private func limited(
        _ arrival: Arrival, _ scope: RateScope, _ wait: Duration, _ state: ServerState
    ) -> HTTPResponse {
        shared.metrics.rateLimited[scope.rawValue].add()
        let refusal = LicenseRefusal(
            .policy(.rateLimit), reason: "The \(scope.rawValue) asks too often.", retryAfter: wait)
        let response = HTTPResponse.refusal(refusal, requestID: arrival.id.text)
        return finished(FaceAnswer(response, report(refusal, .none, arrival)), arrival, state)
    }

    private func shed(_ arrival: Arrival, _ lane: AdmissionLane, _ state: ServerState) -> HTTPResponse {
        shared.metrics.shed[lane.name, ShedReason.full.rawValue].add()
        return finished(
            FaceAnswer(shedReply.response(to: arrival.id), report(ShedReply.refusal, .fairPlay, arrival)), arrival,
            state)
    }

    private func report(_ refusal: LicenseRefusal, _ face: RequestFace, _ arrival: Arrival) -> LicenseReport {
        var report = LicenseReport(tenant: nil, face: face, requestID: arrival.id.text, at: arrival.uptime)
        report.outcome = .refused(refusal)
        return report
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
        if report.face.isLicense {
            metrics.record(report, at: uptime)
            counts.count(LicenseOutcome(report.outcome))
            if let origin = report.keyOrigin { metrics.keyLookups[origin.rawValue].add() }
        }
        if let error = report.tokenError { metrics.tokensRejected[error.code].add() }
        if let record = report.record { decisions.keep(record) }
        let degraded = Degradation.all(
            in: report, isCalloutAway: report.tenant.flatMap { health.known(.callout, of: $0) }?.isAway == true)
        for one in degraded { metrics.licensesDegraded[one.rawValue].add() }
        // What the metrics count by the thousand is no news one by one, and has a cap of its own in the log.
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
    /// The fields in which players of all faces send their tokens.
    private static let credentialFields: [HTTPHeaderName] =
        [.authorization] + VendorFaceName.allCases.flatMap(\.tokenFields)

    /// The token as it comes, unchecked; `nil` without one in a header field.
    fileprivate var credential: String? {
        Self.credentialFields.lazy.compactMap { headers[$0] }.first
    }
}
