import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyLicensing
import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeySystem
    import LatchkeyLicensees
#endif

/// Verification of a tenant's viewers: the keys that sign their tokens, and the operator's own service.
extension ServerBuilder {
    func tokenKeys(
        _ tokens: TenantSettings.Tokens, of tenant: String, _ backgroundTasks: inout [Task<Void, Never>],
        _ problems: inout ServerProblems
    ) async -> KeySetSource? {
        guard let keys = tokens.keys else { return nil }
        let place = "tenants.\(tenant).tokens.keys"
        guard keys.hasPrefix("https://") || keys.hasPrefix("http://") else {
            let source = KeySetSource.file(
                URL(filePath: file.path(keys)), algorithms: tokens.algorithms, on: file.threads,
                health: health.health(.keySet, of: tenant, engine: "file"), timekeeper: timekeeper,
                report: reporter(of: tenant))
            return await problems.awaiting(place) {
                try await source.reload()
                return source
            }
        }
        guard keys.hasPrefix("https://"), let url = URL(string: keys) else {
            problems.add(
                .init(place, "Key sets are only fetched over https.", "Use an https address, or a file's path."))
            return nil
        }
        let source = fetched(url, tokens, of: tenant)
        // An address that does not answer now may answer later; until then every token is refused. A check asks once, elsewhere.
        if !isChecking { backgroundTasks.append(startTask { await source.keepFresh(every: tokens.refresh) }) }
        return source
    }

    /// A key set at an https address, not yet fetched.
    func fetched(_ url: URL, _ tokens: TenantSettings.Tokens, of tenant: String) -> KeySetSource {
        let transport = OneTimeTransport()
        let health = health.health(.keySet, of: tenant, engine: "https")
        return KeySetSource.fetched(
            algorithms: tokens.algorithms, health: health, timekeeper: timekeeper, report: reporter(of: tenant)
        ) {
            let reply = try await transport.send(URLRequest(url: url), bodyLimit: 64 << 10)
            guard reply.status == 200 else { throw KeySetError.status(reply.status) }
            return reply.body
        }
    }

    /// Logs events of a tenant's key set: each failure, and each refused key once while it stays refused.
    private func reporter(of tenant: String) -> @Sendable (KeySetSource.Event) -> Void {
        let log = log
        return { event in
            switch event {
            case .loaded(_, _, let news):
                for error in news { log.write(LogEntry(.configuration, error, level: .warning, tenant: tenant)) }
            case .kept(let error):
                log.write(LogEntry(.configuration, error, level: .warning, tenant: tenant))
            }
        }
    }

    /// Asks by `POST` of `{"user","asset"}`. ``EntitlementStatus`` explains its statuses; with 200 comes anything that a token's claim
    /// `latchkey` may say.
    func callout(_ stated: TenantSettings.Callout, of tenant: String) throws -> EntitlementCallout<Grant> {
        guard let url = URL(string: stated.url), let host = url.host(),
            url.scheme == "https" || (url.scheme == "http" && ["127.0.0.1", "::1", "localhost"].contains(host))
        else {
            throw Diagnosis(
                code: "calloutAddress", reason: "The callout's address is neither https nor on loopback.",
                remedy: "Use the https address of your service.")
        }
        let token = try stated.token.map { try file.secrets.text($0) }
        let transport = SystemTransport()
        let log = log
        let report: @Sendable (EntitlementCallout<Grant>.Event) -> Void = { event in
            switch event {
            case .failed(let failure):
                log.write(LogEntry(.outage, failure, level: .warning, tenant: tenant))
            case .unauthorized(let status):
                var entry = LogEntry(
                    .warning, .configuration,
                    message:
                        "The callout responds with \(status), so it may not recognize this server. Check callout.token."
                )
                (entry.reason, entry.tenant) = ("calloutUnauthorized", tenant)
                log.write(entry)
            }
        }
        // The policy's outage rule decides, for each license.
        return EntitlementCallout(
            EntitlementLimits(timeout: stated.timeout, memory: stated.memory), outage: .allow,
            health: health.health(.callout, of: tenant, engine: "https"), timekeeper: timekeeper, report: report
        ) { question in
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.httpBody = try JSONEncoder().encode(["user": question.user, "asset": question.asset])
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            if let token { request.setValue("Bearer \(token.revealedText)", forHTTPHeaderField: "Authorization") }
            let reply = try await transport.send(request, bodyLimit: 64 << 10)
            switch EntitlementStatus(reply.status) {
            case .yes: return .granted(reply.body.isEmpty ? Grant() : try Grant(calloutReply: reply.body))
            case .no: return .denied
            case .rejected: return .rejected(status: reply.status)
            case .outage: throw Diagnosis.callout(status: reply.status)
            }
        }
    }
}
