import Foundation
import LatchkeyCore
import LatchkeyDecision
package import LatchkeyHTTP
package import LatchkeyLicensees
import LatchkeySystem
import LatchkeyVault

/// All metrics of a license server.
///
/// Each series has its own lock, so that two licenses wait for each other only in the same series, for some nanoseconds.
///
/// Source: `Documentation/LicenseServer.md` §9.3.
package final class ServerMetrics: Sendable {
    package let licenseRequests: MetricFamily<Counter>
    package let licenseDuration: MetricFamily<Histogram>
    package let licenseStage: MetricFamily<Histogram>
    package let poolWaiting, poolBusyThreads, poolLimit: Gauge
    package let poolWait: Histogram
    /// Calls that open several licenses together, the licenses opened, and the errors among them.
    package let rsaBatches, rsaBatchOperations, rsaBatchErrors: Counter
    /// The work of licensees' modules; without a tenant, of the server's.
    package let moduleRequests, moduleRestarts: MetricFamily<Counter>
    package let moduleSeconds: Histogram
    package let shed: MetricFamily<Counter>
    /// The lane of packagers' requests in `shed`.
    package static let packagerLane = "packager"
    package let licensesDegraded: MetricFamily<Counter>
    package let sessions, sessionsAreAtLeast: MetricFamily<Gauge>
    package let storeTime: MetricFamily<Histogram>
    package let storeErrors: MetricFamily<Counter>
    package let storeRedirections: MetricFamily<Counter>
    package let storeOutage, regionOutage, calloutOutage: MetricFamily<Gauge>
    package let regionTime: MetricFamily<Histogram>
    package let tokensRejected: MetricFamily<Counter>
    package let keySetKeys: MetricFamily<Gauge>
    package let keySetFailed: MetricFamily<Gauge>
    package let keysCached: Gauge
    package let keyLookups: MetricFamily<Counter>
    package let copyRows, copyBytes, copyKept, pendingChanges, pendingEntries, storeIsBehind: Gauge
    package let packagerRequests: MetricFamily<Counter>
    package let rateLimited: MetricFamily<Counter>
    /// Replies of listeners themselves, before or instead of an API's.
    package let httpRefusals: MetricFamily<Counter>
    package let credentialExpiry: MetricFamily<Gauge>
    /// The tenants' limits, how much of them is used, and the refusals beyond them.
    package let tenantLimit, tenantUse: MetricFamily<Gauge>
    package let tenantRefusals: MetricFamily<Counter>
    package let listenerCertificateExpiry: MetricFamily<Gauge>
    package let policyInfo: MetricFamily<Gauge>
    package let configurationInfo: MetricFamily<Gauge>
    package let auditSequence, auditIsIntact: Gauge
    package let ready, configurationIsLoaded: Gauge
    package let logDropped: MetricFamily<Counter>
    /// The record: rows made, lost and shipped; rows waiting in the spool.
    package let recordRows, recordLost: MetricFamily<Counter>
    package let recordShipped, recordLate: Counter
    package let recordWait: Histogram
    package let recordSpoolRows, recordSpoolBytes, recordSpoolLimit, recordOldest: Gauge
    private let families: [any AnyMetricFamily]
    /// By the stage's number.
    private let stages: [Histogram]
    private let fills = Locked<[@Sendable () -> Void]>([])

    /// - Parameters:
    ///   - version: the server's version for `latchkey_build_info`.
    ///   - tenants: how many tenants have their own series. Defaults to 200.
    package init(version: String, tenants: Int = 200) {
        var table = MetricTable(tenants: tenants)
        licenseRequests = table.licenseRequests()
        licenseDuration = table.times(
            "latchkey_license_duration_seconds", "Duration of license requests.", [.first(100, "endpoint")])
        licenseStage = table.times(
            "latchkey_license_stage_seconds", "Duration of each stage of license requests.",
            [.fixed("stage", LicenseStage.allCases.map(\.name))])
        poolWaiting = table.gauge("latchkey_pool_waiting", "Tasks waiting for a thread.")
        poolWait = table.times("latchkey_pool_wait_seconds", "Time that tasks waited for a thread.")[]
        poolBusyThreads = table.gauge("latchkey_pool_busy_threads", "Busy threads.")
        poolLimit = table.gauge("latchkey_pool_limit", "Current limit of waiting tasks.")
        rsaBatches =
            table.counters(
                "latchkey_rsa_batches_total", "Calls of crypto_mb, each of which opens several licenses together.")[]
        rsaBatchOperations =
            table.counters(
                "latchkey_rsa_batch_operations_total", "Licenses that crypto_mb opened in batches.")[]
        rsaBatchErrors =
            table.counters(
                "latchkey_rsa_batch_errors_total", "Wrong results of crypto_mb, recomputed with OpenSSL.")[]
        moduleRequests = table.counters(
            "latchkey_module_requests_total", "Requests to licensees' modules, by outcome.",
            [table.tenant, .fixed("outcome", [Self.madeCKC] + ModuleFailure.Kind.allCases.map(\.rawValue))])
        moduleSeconds = table.times("latchkey_module_seconds", "Duration of requests to licensees' modules.")[]
        moduleRestarts = table.counters(
            "latchkey_module_restarts_total", "Worker processes of licensees' modules that failed or ended.",
            [table.tenant])
        shed = table.counters(
            "latchkey_shed_total", "Requests that were shed to protect the others.",
            [
                .fixed("lane", AdmissionLane.allCases.map(\.name) + [Self.packagerLane]),
                .fixed("why", ShedReason.allCases.map(\.rawValue)),
            ])
        licensesDegraded = table.counters(
            "latchkey_licenses_degraded_total",
            "Licenses issued with less than their policies require, by missing part.",
            [.fixed("why", Degradation.allCases.map(\.rawValue))])
        sessions = table.gauges(
            "latchkey_sessions", "Slots in use in the store that all nodes share.", [table.tenant])
        sessionsAreAtLeast = table.gauges(
            "latchkey_sessions_at_least",
            "1 if latchkey_sessions is a lower bound, because the store does not count all sessions yet.",
            [table.tenant])
        let store = MetricLabel.fixed("store", EngineRole.allCases.map(\.rawValue))
        let operation = MetricLabel.fixed("operation", EngineOperation.allCases.map(\.rawValue))
        storeTime = table.times(
            "latchkey_store_seconds", "Duration of operations of the session store.",
            [store, operation])
        storeErrors = table.counters(
            "latchkey_store_errors_total", "Failed operations of a store.", [store, .first(20, "engine")])
        storeRedirections = table.counters(
            "latchkey_store_redirections_total",
            "Session requests that a Redis cluster node redirected or deferred.",
            [.fixed("why", ClusterRedirection.allCases.map(\.rawValue))])
        storeOutage = table.gauges(
            "latchkey_store_outage", "1 while a store does not perform a kind of operation.", [store, operation])
        let region = MetricLabel.first(100, "region")
        regionOutage = table.gauges(
            "latchkey_region_outage", "1 while a region's session store does not answer this node.", [region])
        regionTime = table.times(
            "latchkey_region_seconds", "Duration of operations of a region's session store.", [region])
        calloutOutage = table.gauges(
            "latchkey_callout_outage", "1 while a tenant's callout does not answer.", [table.tenant])
        tokensRejected = table.counters("latchkey_tokens_rejected_total", "Tokens refused.", [.first(50, "reason")])
        keySetKeys = table.gauges(
            "latchkey_key_set_keys", "Keys of a tenant's key set for tokens: usable or refused.",
            [table.tenant, .fixed("state", ["usable", "refused"])])
        keySetFailed = table.gauges(
            "latchkey_key_set_failed", "1 if the last attempt to load a tenant's key set failed.", [table.tenant])
        keysCached = table.gauge("latchkey_keys_cached", "Content keys in the cache.")
        keyLookups = table.counters(
            "latchkey_key_lookups_total", "Content keys of license requests, by source.",
            [.fixed("from", KeyOrigin.allCases.map(\.rawValue))])
        copyRows = table.gauge("latchkey_node_copy_keys", "Content keys in the node's copy.")
        copyBytes = table.gauge("latchkey_node_copy_bytes", "The size of the node's copy.")
        copyKept = table.gauge(
            "latchkey_node_copy_timestamp_seconds",
            "Time at which the node last copied from the store, in Unix time; 0 without a copy.")
        pendingChanges = table.gauge("latchkey_pending_changes", "Changes of this node that a store does not have yet.")
        storeIsBehind = table.gauge(
            "latchkey_store_behind", "1 while a store is older than this node's last view of it.")
        pendingEntries = table.gauge(
            "latchkey_pending_audit_entries", "Entries of this node that the audit store does not have yet.")
        packagerRequests = table.counters(
            "latchkey_packager_requests_total", "Requests of packagers.",
            [
                .fixed("protocol", PackagerProtocol.allCases.map(\.rawValue)), .first(10, "version"),
                .fixed("outcome", [LogOutcome.ok, .refused, .failed, .shed].map(\.rawValue)), .first(50, "reason"),
            ])
        rateLimited = table.counters(
            "latchkey_rate_limited_total", "Requests beyond a rate limit.",
            [.fixed("scope", RateScope.allCases.map(\.rawValue))])
        httpRefusals = table.counters(
            "latchkey_http_refusals_total",
            "Requests that a listener refused itself: malformed, too large, unsupported, late, or during a shutdown.",
            [
                .fixed("listener", ["players", "packagers", "operators", "health"]),
                .fixed("status", ["400", "408", "413", "417", "431", "501", "503", "505"]),
            ])
        credentialExpiry = table.gauges(
            "latchkey_credential_expiry_timestamp_seconds", "Expiry of a certificate, in Unix time.",
            [table.tenant, .first(500, "sha1")])
        let limit = MetricLabel.fixed("limit", TenantLimit.allCases.map(\.rawValue))
        tenantLimit = table.gauges("latchkey_tenant_limit", "A tenant's limit.", [table.tenant, limit])
        tenantUse = table.gauges("latchkey_tenant_use", "A tenant's use of its limit.", [table.tenant, limit])
        tenantRefusals = table.counters(
            "latchkey_tenant_limit_refusals_total", "Requests refused because the tenant is at its limit.",
            [table.tenant, limit])
        listenerCertificateExpiry = table.gauges(
            "latchkey_tls_certificate_expiry_timestamp_seconds",
            "Expiry of a listener's TLS certificate, in Unix time.",
            [.fixed("listener", ["players", "packagers", "operators"])])
        policyInfo = table.gauges(
            "latchkey_policy_info", "1 for each policy in force.", [.first(1_000, "name"), .first(1_000, "digest")])
        configurationInfo = table.gauges(
            "latchkey_config_info", "1 for each part of the configuration that must be identical on all nodes.",
            [.first(100, "part"), .first(1_000, "digest")])
        auditSequence = table.gauge("latchkey_audit_sequence", "The number of the last audit entry.")
        auditIsIntact = table.gauge(
            "latchkey_audit_intact",
            "1 unless the last check found the audit broken; each node checks all of it repeatedly.")
        ready = table.gauge("latchkey_ready", "1 if the node accepts requests, as /readyz reports.")
        configurationIsLoaded = table.gauge(
            "latchkey_config_last_reload_successful", "1 if the last reload of the configuration succeeded.")
        logDropped = table.counters(
            "latchkey_log_dropped_total",
            "Log lines dropped: beyond the cap of their event, without room in memory, or not accepted by the output.",
            [.first(100, "event")])
        recordRows = table.counters(
            "latchkey_record_rows_total", "Rows of the record that this node created.",
            [.fixed("event", Self.recordEvents)])
        recordLost = table.counters(
            "latchkey_record_lost_total", "Rows of the record that were lost, by reason.",
            [.fixed("why", Self.recordLosses)])
        recordLate =
            table.counters(
                "latchkey_record_late_total", "Replies that did not wait for their row because the disk hung.")[]
        recordShipped =
            table.counters("latchkey_record_shipped_total", "Rows that the record's destination has accepted.")[]
        recordWait = table.times("latchkey_record_wait_seconds", "Time that a license waited for its row.")[]
        recordSpoolRows = table.gauge(
            "latchkey_record_spool_rows", "Rows waiting for the record's destination.")
        recordSpoolBytes = table.gauge("latchkey_record_spool_bytes", "The size of the record's spool.")
        recordSpoolLimit = table.gauge(
            "latchkey_record_spool_limit_bytes", "The spool's size limit; 0 without a record.")
        recordOldest = table.gauge(
            "latchkey_record_oldest_seconds", "The age of the oldest row waiting for the destination.")
        table.gauges("latchkey_build_info", "1, with the version.", [.first(1, "version")])[version].set(1)
        families = table.families
        let licenseStage = licenseStage
        stages = LicenseStage.allCases.map { licenseStage[$0.name] }
        // A counter that first appears with its first event shows no rise to a monitor.
        for why in Degradation.allCases { _ = licensesDegraded[why.rawValue] }
        for lane in AdmissionLane.allCases.map(\.name) + [Self.packagerLane] {
            for why in ShedReason.allCases { _ = shed[lane, why.rawValue] }
        }
        for event in LogEvent.all { _ = logDropped[event.name] }
        for event in Self.recordEvents { _ = recordRows[event] }
        for why in Self.recordLosses { _ = recordLost[why] }
        auditIsIntact.set(1)
        configurationIsLoaded.set(1)
    }

    /// The outcome of a module's request that gave a CKC.
    private static let madeCKC = "ckc"

    /// Counts the work of a licensee's module.
    /// - Parameter tenant: the module's tenant; empty for the server's module.
    package func moduleObserver(of tenant: String) -> ModuleObserver {
        // As above, so that a monitor sees the first failure.
        for kind in ModuleFailure.Kind.allCases { _ = moduleRequests[tenant, kind.rawValue] }
        let restarts = moduleRestarts[tenant]
        return ModuleObserver { [moduleRequests, moduleSeconds] failure, time in
            moduleRequests[tenant, failure?.rawValue ?? Self.madeCKC].add()
            moduleSeconds.observe(time)
        } restarted: {
            restarts.add()
        }
    }

    private static let recordEvents = LicenseRecordRow.Event.allCases.map(\.rawValue)
    private static let recordLosses = RecordSpool.Loss.allCases.map(\.rawValue) + ["damaged", "refused"]

    /// Every metric's name and type, in the order of the text, without those of the process.
    package var names: [(name: String, type: String)] { families.map { ($0.name, $0.type) } }

    /// Counts a request for a license.
    /// - Parameters:
    ///   - report: the outcome.
    ///   - uptime: the time of the reply, by the uptime clock.
    package func record(_ report: LicenseReport, at uptime: Duration) {
        let (endpoint, outcome) = (report.endpoint, LicenseOutcome(report.outcome))
        licenseRequests[
            report.tenant ?? "", endpoint.name, (report.drm ?? endpoint.drm).label, outcome.rawValue,
            report.refusal?.code ?? ""
        ].add()
        licenseDuration[endpoint.name].observe(uptime - report.began)
        for (stage, duration) in report.stages { stages[stage.rawValue].observe(duration) }
    }

    /// Registers a closure that fills in gauges before each text is written. It must not wait.
    package func beforeText(_ fill: @escaping @Sendable () -> Void) { fills.withLock { $0.append(fill) } }

    /// All metrics, those of the process too.
    /// - Parameter scope: whose. Defaults to everything; tenants get their own series only.
    package func text(_ format: MetricFormat, _ scope: TenantScope = .all) -> String {
        for fill in fills.withLock({ $0 }) { fill() }
        var text = MetricText(format)
        for family in families + ProcessFigures().families { text.append(family, scope) }
        text.end()
        return text.text
    }

    /// The reply to `GET /metrics`.
    /// - Parameter scope: whose metrics. Defaults to everything.
    package func response(to request: HTTPRequest, _ scope: TenantScope = .all) -> HTTPResponse {
        let format = MetricFormat(accept: request.headers[.accept])
        return HTTPResponse(contentType: format.contentType, bytes: Data(text(format, scope).utf8))
    }
}
