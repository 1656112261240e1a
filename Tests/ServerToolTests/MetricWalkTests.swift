import BuiltLibrary
import Foundation
import LatchkeyDevice
import LatchkeyFairPlay
import TLSPeer
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyHTTP
@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// Every metric that is declared, drawn or alerted on is moved by something that happens to a running server.
///
/// A new metric fails here until a deed below moves it.
@Suite(.timeLimit(.minutes(5))) struct MetricWalkTests {
    /// The values of all series by their names and labels.
    private static func reading(_ stage: TestServer) -> [String: Double] {
        let text = stage.server.shared.metrics.text(.prometheus)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            lines.compactMap { line in
                line.lastIndex(of: " ").flatMap { end in
                    Double(line[line.index(after: end)...]).map { (String(line[..<end]), $0) }
                }
            }, uniquingKeysWith: { one, _ in one })
    }

    /// The metric of a series, without its labels and the suffix of a histogram.
    private static func metric(of series: String, _ declared: Set<String>) -> String {
        let name = String(series.prefix { $0 != "{" })
        let ends = ["_bucket", "_sum", "_count"].filter { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
        return declared.contains(name) ? name : ends.first { declared.contains($0) } ?? name
    }

    /// The metrics that something moved.
    private let moved = Locked<Set<String>>([])

    /// Does something, and expects that it moves some metrics.
    private func moves(
        _ metrics: [String], _ stage: TestServer, from location: SourceLocation = #_sourceLocation,
        _ deed: () async throws -> Void
    ) async throws {
        let declared = Set(stage.server.shared.metrics.names.map(\.name))
        let before = Self.reading(stage)
        try await deed()
        let after = Self.reading(stage)
        let moved = Set(
            Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.map { Self.metric(of: $0, declared) })
        for name in metrics { #expect(moved.contains(name), "\(name) does not move", sourceLocation: location) }
        self.moved.withLock { $0.formUnion(metrics) }
    }

    @Test func `a real event moves every metric`() async throws {
        let isServiceDown = Locked(false)
        let service = try LoopbackServer { _, _ in
            .send("HTTP/1.0 \(isServiceDown.withLock { $0 } ? "500 No" : "200 OK")\r\nContent-Length: 0\r\n\r\n")
        }
        let certificate = try SelfSigned()
        let cryptoMB = try BuiltLibrary.cryptoMB("WRONG_LANE=1")
        let stage = try await TestServer.switched(
            [
                "tenants.demo.limits.keys": 4, "tenants.demo.callout.url": "http://127.0.0.1:\(service.port)/",
                "record": ["folder": "spool", "destination": "files:rows"], "limits.perTenant": 4, "threads": 1,
                "cryptoMB": .text(cryptoMB),
            ], sessions: { try #require(RegionalRecordStore(["eu": $0.sessions])) })
        let (server, shared) = (stage.server, stage.server.shared)
        try await moves(
            [
                "latchkey_license_requests_total", "latchkey_license_duration_seconds",
                "latchkey_license_stage_seconds", "latchkey_key_lookups_total", "latchkey_store_seconds",
                "latchkey_region_seconds", "latchkey_keys_cached", "latchkey_record_rows_total",
                "latchkey_record_wait_seconds", "latchkey_record_spool_rows", "latchkey_record_spool_bytes",
            ], stage
        ) { () async throws in
            #expect(try await stage.license(1).status == 200)
        }
        try await moves(["latchkey_sessions", "latchkey_sessions_at_least"], stage) { () async throws in
            #expect(try await stage.license(2).status == 200)
            let some = AccountSessions(accounts: PartlyCounted(), secrets: [])
            _ = await SessionCounts(some, shared.metrics).counts(of: ["demo"])
        }
        try await moves(["latchkey_packager_requests_total"], stage) { () async throws in
            #expect(try await stage.packager("speke", "POST", body: "<nope/>").status == 422)
        }
        try await moves(["latchkey_tenant_use"], stage) { () async throws in await server.exchangeUsage() }
        try await moves(["latchkey_tenant_limit_refusals_total"], stage) { () async throws in
            let document = TestServer.document(4...5)
            #expect(try await stage.admin("tenants/demo/cpix", "POST", body: document).status == 409)
        }
        try await moves(["latchkey_audit_sequence"], stage) { () async throws in
            #expect(try await stage.admin("sign-in", "POST").status == 200)
        }
        try await pool(stage)
        try await batch(stage)
        try await module(stage)
        try await moves(["latchkey_shed_total"], stage) { () async throws in
            while shared.packagers.begin(of: "demo") {}
            #expect(try await stage.packager("speke", "POST", body: "<nope/>").status == 503)
            shared.packagers.end(of: "demo")
        }
        try await moves(["latchkey_log_dropped_total"], stage) { () async throws in
            // The log of the admin API has a thousand lines a second.
            for _ in 0..<2_500 { shared.log.write(LogEntry(.info, .admin)) }
        }
        try await moves(
            ["latchkey_node_copy_keys", "latchkey_node_copy_bytes", "latchkey_node_copy_timestamp_seconds"], stage
        ) { () async throws in
            await server.lookAtEngines()
        }
        try await moves(
            [
                "latchkey_store_outage", "latchkey_store_errors_total", "latchkey_pending_changes",
                "latchkey_pending_audit_entries",
            ], stage
        ) { () async throws in
            stage.database.setDown(true)
            await stage.tick()
            _ = try await stage.admin("tenants/demo/keys/\(TestServer.kid(1))/disable", "POST")
        }
        try await moves(["latchkey_store_redirections_total"], stage) { () async throws in
            stage.database.redirections.withLock { $0[.moved, default: 0] += 1 }
        }
        try await moves(["latchkey_licenses_degraded_total"], stage) { () async throws in
            #expect(try await stage.license(2).status == 200)
        }
        try await moves(["latchkey_region_outage"], stage) { () async throws in
            stage.database.sessions.setDown(true)
            #expect(try await stage.license(2).status == 200)
        }
        stage.database.sessions.setDown(false)
        stage.database.setDown(false)
        await stage.tick()
        try await moves(["latchkey_callout_outage"], stage) { () async throws in
            isServiceDown.withLock { $0 = true }
            #expect(try await stage.license(3).status == 503)
        }
        try await configuration(stage, certificate)
        try await moves(["latchkey_tokens_rejected_total", "latchkey_rate_limited_total"], stage) {
            () async throws in
            for _ in 0..<30 { _ = try await stage.license(1, token: "no.token.atall") }
        }
        try await moves(["latchkey_http_refusals_total"], stage) { () async throws in
            #expect(try await stage.player("//").status == 400)
        }
        try await moves(["latchkey_audit_intact"], stage) { () async throws in
            let last = try #require(try await stage.database.last())
            let forged = AuditEntry(
                sequence: last.sequence + 1, text: last.text, previous: last.hash, hash: last.hash)
            #expect(try await stage.database.append(forged))
            #expect(try await stage.admin("audit/verify", "POST").status == 200)
        }
        try await record(stage)
        try await moves(["latchkey_store_behind"], stage) { () async throws in
            try await stage.database.putBack(to: 0)
            await stage.tick()
        }
        try await moves(["latchkey_ready"], stage) { () async throws in shared.isDraining = true }
        moved.withLock { $0.formUnion(Self.standing(stage)) }
        let declared = Set(shared.metrics.names.map(\.name))
        let unmoved = moved.withLock { declared.subtracting($0) }
        #expect(unmoved == [], "Nothing moves these. Add the event that does, or remove them.")
    }

    /// A licensee's module, here the stand-in, whose worker process crashes.
    private func module(_ stage: TestServer) async throws {
        var configuration = LicenseeConfiguration.Module()
        (configuration.library, configuration.program) = (try BuiltLibrary.module([]), BuiltLibrary.server)
        configuration.credentials = stage.folder.credentials
        let module = try LicenseeModule(
            configuration, in: SecretPlaces(folder: stage.folder.demo.url), post: nil,
            stage.server.shared.metrics.moduleObserver(of: "demo"))
        let metrics = ["requests_total", "seconds", "restarts_total"].map { "latchkey_module_\($0)" }
        try await moves(metrics, stage) { () async throws in
            let spc = try stage.exchange("skd://crash/\(TestServer.derivedKid)").spc.revealed
            await #expect(throws: ModuleFailure.self) { try await module.assetID(of: spc) }
        }
    }

    /// Rows of the record that wait, are shipped, arrive late and are lost.
    private func record(_ stage: TestServer) async throws {
        let shared = stage.server.shared
        let record = try #require(shared.record)
        record.viewers(["demo": 1])
        await record.spool.flush()
        try await moves(["latchkey_record_oldest_seconds"], stage) { () async throws in await stage.tick() }
        try await moves(["latchkey_record_shipped_total"], stage) { () async throws in
            while record.spool.standing.rows > 0 { await stage.tick() }
        }
        let (gate, fails) = (DispatchSemaphore(value: 0), Locked(true))
        let other = try LicenseRecord(
            record.settings, folder: stage.root.path("other"), node: "n", to: RecordFiles(folder: "/nowhere"),
            pseudonyms: shared.pseudonyms, metrics: shared.metrics, log: shared.log, timekeeper: SystemTimekeeper(),
            disk: SpoolDisk(write: { _, _ in
                if !fails.withLock({ $0 }) { gate.wait() }
                return ENOSPC
            }))
        try await moves(["latchkey_record_lost_total"], stage) { () async throws in
            other.viewers(["demo": 1])
            await other.spool.flush()
        }
        fails.withLock { $0 = false }
        var report = LicenseReport(tenant: "demo", endpoint: .fairPlay, requestID: "r", at: .zero)
        report.outcome = .license
        let late = report
        try await moves(["latchkey_record_late_total"], stage) { () async throws in
            #expect(await other.keep(late, LicenseRequestFacts()))
        }
        gate.signal()
    }

    /// Work that waits for a thread.
    private func pool(_ stage: TestServer) async throws {
        let pool = stage.server.shared.pool
        let (begins, ends) = (Promise<Void, Never>(), DispatchSemaphore(value: 0))
        let first = Task {
            _ = await pool.run(.start, session: "first") {
                begins.resolve(.success(()))
                ends.wait()
            }
        }
        try await begins.value
        let second = Locked<Task<Void, Never>?>(nil)
        try await moves(["latchkey_pool_waiting"], stage) { () async throws in
            second.withLock { $0 = Task { _ = await pool.run(.start, session: "second") {} } }
            while pool.admission.waiting == 0 { await Task.yield() }
        }
        try await moves(["latchkey_pool_busy_threads", "latchkey_pool_wait_seconds"], stage) { () async throws in
            ends.signal()
            await first.value
            await second.withLock { $0 }?.value
        }
    }

    /// Licenses that wait together, of which one is computed wrong.
    private func batch(_ stage: TestServer) async throws {
        let shared = stage.server.shared
        let opening = try #require(shared.batches.opening)
        let device = try SimulatedDevice(directory: URL(filePath: stage.folder.credentials))
        var generator = SystemRandomNumberGenerator()
        let spc = Array(try device.exchange(for: "skd://movie", using: &generator).spc.revealed)
        let input = KeyServerModule.Opening(module: stage.server.current.licensee.module, spc: spc)
        // However long the machine takes, no request is refused.
        let patience = AdmissionRules(target: .seconds(3_600), patience: .seconds(3_600), deadline: .seconds(3_600))
        let pool = WorkerPool(threads: 1, rules: patience)
        try await moves(
            [
                "latchkey_rsa_batches_total", "latchkey_rsa_batch_operations_total", "latchkey_rsa_batch_errors_total",
            ], stage
        ) { () async throws in
            let (begins, ends) = (Promise<Void, Never>(), DispatchSemaphore(value: 0))
            let first = Task {
                _ = await pool.run(.start, session: "first") {
                    begins.resolve(.success(()))
                    ends.wait()
                }
            }
            try await begins.value
            let licenses = (0..<4).map { number in
                Task { try await pool.run(.start, session: "\(number)", opening, input).get().get() }
            }
            while pool.admission.waiting < 4 { await Task.yield() }
            ends.signal()
            await first.value
            for license in licenses { #expect(try await license.value.assetID == "skd://movie") }
        }
    }

    /// The metrics that a changed configuration moves.
    private func configuration(_ stage: TestServer, _ certificate: SelfSigned) async throws {
        let (server, folder) = (stage.server, stage.folder)
        let good = try folder.text("jwks.json")
        try await moves(["latchkey_policy_info", "latchkey_config_info"], stage) { () async throws in
            try folder.edit(["validity.lease": "6m"], in: "policies/demo.json")
            try folder.edit(["countryHeader": "X-Country"])
            try await server.reload()
        }
        try await moves(["latchkey_key_set_keys"], stage) { () async throws in
            try folder.edit(
                ["keys.1": ["kty": "oct", "alg": "HS256", "kid": "short", "k": "AAAA"]], in: "jwks.json")
            try await server.reload()
        }
        try await moves(["latchkey_key_set_failed"], stage) { () async throws in
            try folder.write("{}", to: "jwks.json")
            await #expect(throws: (any Error).self) {
                try await server.current.tenants["demo"]?.tokenKeys?.reload()
            }
        }
        try await moves(["latchkey_config_last_reload_successful"], stage) { () async throws in
            await #expect(throws: (any Error).self) { try await server.reload() }
        }
        try folder.write(good, to: "jwks.json")
        try await moves(["latchkey_tls_certificate_expiry_timestamp_seconds"], stage) { () async throws in
            try certificate.serve("players", of: folder)
            try await server.reload()
        }
    }

    /// The metrics that exist from the start and change only with the program.
    private static func standing(_ stage: TestServer) -> Set<String> {
        let values = reading(stage)
        let names: Set = [
            "latchkey_build_info", "latchkey_record_spool_limit_bytes", "latchkey_pool_limit", "latchkey_tenant_limit",
            "latchkey_credential_expiry_timestamp_seconds",
        ]
        for name in names {
            #expect(values.contains { $0.key.hasPrefix(name) }, "\(name) is not there")
        }
        return names
    }
}
