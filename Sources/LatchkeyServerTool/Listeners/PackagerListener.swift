import LatchkeyCore
import LatchkeyHTTP
import LatchkeyServer

/// What packagers' requests pass: the face; then the audit, log and metrics.
struct PackagerListener: Sendable {
    let shared: ServerShared
    let state: @Sendable () -> ServerState
    private let timekeeper = SystemTimekeeper()

    /// What to do for a request: more than may wait is refused here.
    func begin(_ request: HTTPRequest) -> HTTPWork {
        guard shared.packagers.begin() else { return .reply(full(request)) }
        return .task {
            defer { shared.packagers.end() }
            return await answer(request)
        }
    }

    private func full(_ request: HTTPRequest) -> HTTPResponse {
        shared.metrics.shed[ServerMetrics.packagerLane, ShedReason.full.rawValue].add()
        let refusal = LicenseRefusal(.overloaded, reason: "More packagers ask than the server answers beside players.")
        return .refusal(
            PolicyRefusal(refusal, retryAfter: .seconds(Int.random(in: 1...5))), requestID: RequestID(of: request).text)
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let state = state()
        var generator = SystemRandomNumberGenerator()
        let (id, trace) = (
            RequestID(of: request, using: &generator), TraceContext(of: request.headers, using: &generator)
        )
        let viewer = state.viewer(of: request)
        let answer = await state.packagers.answer(FaceCall(request, requestID: id.text, viewer: viewer))
        var response = answer.response
        if await !audit(answer.report) {
            response = .refusal(
                PolicyRefusal(LicenseRefusal(.policy(.storeUnavailable), reason: "The audit cannot be written.")),
                requestID: id.text)
        }
        response.headers[.requestID] = id.text
        note(answer.report, response.status, id, trace, viewer.address)
        return response
    }

    /// Writes who got which keys. Keys that nobody could account for are not handed out.
    private func audit(_ report: LicenseReport) async -> Bool {
        guard !report.keys.isEmpty, let tenant = report.tenant else { return true }
        let kids = report.keys.prefix(100).map { "\($0.kid)" }.joined(separator: " ")
        let event = AuditEvent(
            report.face == "cpix-import" ? .keyImported : .keyExported, of: tenant,
            by: "caller:\(report.caller ?? "a signer")",
            details: [
                "face": report.face, "kids": kids, "count": "\(report.keys.count)",
                "recipients": report.recipients.map(\.hexString).joined(separator: " "),
            ])
        do throws(StoreError) {
            if let entry = try await shared.audit.append(event) {
                shared.metrics.auditSequence.set(Double(entry.sequence))
            }
            return true
        } catch {
            shared.log.write(LogEntry(.packager, error))
            return false
        }
    }

    private func note(
        _ report: LicenseReport, _ status: Int, _ id: RequestID, _ trace: TraceContext, _ address: AddressRange?
    ) {
        let proto =
            report.face.hasPrefix("cpix") ? "cpix" : report.face == "common-encryption" ? "common-encryption" : "speke"
        shared.metrics.packagerRequests[proto, report.protocolVersion, report.outcome].add()
        var entry = LogEntry(status >= 500 ? .error : .info, .packager)
        (entry.requestID, entry.trace, entry.tenant, entry.face) = (id, trace, report.tenant, report.face)
        (entry.outcome, entry.status, entry.address) = (report.outcome, status, address)
        entry.duration = timekeeper.uptime - report.began
        entry.reason = report.refusal?.code
        entry.message = report.reason
        shared.log.write(entry)
    }
}
