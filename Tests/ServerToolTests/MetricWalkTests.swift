import BuiltLibrary
import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import SwitchedStores
import TLSPeer
import Testing

@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyOperation
@testable import LatchkeyPolicy
@testable import LatchkeyRecord
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyTokens
@testable import LatchkeyVault

/// Every metric that is declared, drawn or alerted on is moved by something that happens to a running server.
///
/// A new metric fails here until a deed below moves it.
@Suite(.timeLimit(.minutes(5))) struct MetricWalkTests {
    /// The values of all series by their names and labels.
    private static func reading(_ stage: OutageStage) -> [String: Double] {
        let text = stage.server.server.shared.metrics.text(.prometheus)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            lines.compactMap { line in
                line.lastIndex(of: " ").flatMap { end in
                    Double(line[line.index(after: end)...]).map { (String(line[..<end]), $0) }
                }
            }, uniquingKeysWith: { one, _ in one })
    }

    /// The metric of a series, without its labels and what belongs to a histogram.
    private static func metric(of series: String, _ declared: Set<String>) -> String {
        let name = String(series.prefix { $0 != "{" })
        let ends = ["_bucket", "_sum", "_count"].filter { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
        return declared.contains(name) ? name : ends.first { declared.contains($0) } ?? name
    }

    /// Does something, and expects that it moves some metrics.
    /// - Returns: those metrics.
    private func moves(
        _ metrics: [String], _ stage: OutageStage, from location: SourceLocation = #_sourceLocation,
        _ deed: () async throws -> Void
    ) async throws -> Set<String> {
        let declared = Set(stage.server.server.shared.metrics.names.map(\.name))
        let before = Self.reading(stage)
        try await deed()
        let after = Self.reading(stage)
        let moved = Set(
            Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.map { Self.metric(of: $0, declared) })
        for name in metrics { #expect(moved.contains(name), "\(name) does not move", sourceLocation: location) }
        return Set(metrics)
    }

    @Test func `a real event moves every metric`() async throws {
        let isServiceDown = Locked(false)
        let service = try LoopbackServer { _, _ in
            .send("HTTP/1.0 \(isServiceDown.withLock { $0 } ? "500 No" : "200 OK")\r\nContent-Length: 0\r\n\r\n")
        }
        let certificate = try SelfSigned()
        let cryptoMB = try BuiltLibrary.cryptoMB("WRONG_LANE=1")
        let stage = try await OutageStage(
            { text in
                text = text.replacing(
                    #""clearKey": true,"#,
                    with:
                        #""clearKey": true, "limits": {"keys": 4}, "callout": {"url": "http://127.0.0.1:\#(service.port)/"},"#
                )
                text = text.replacing(
                    #""drainDelay""#,
                    with:
                        #""record": {"folder": "spool", "destination": "files:rows"}, "limits": {"perTenant": 4}, "threads": 1, "cryptoMB": "\#(cryptoMB)", "drainDelay""#
                )
            }, sessions: { try #require(RegionalRecordStore(["eu": $0.sessions])) })
        let (server, shared) = (stage.server.server, stage.server.server.shared)
        var moved: Set<String> = []
        moved.formUnion(
            try await moves(
                [
                    "latchkey_license_requests_total", "latchkey_license_duration_seconds",
                    "latchkey_license_stage_seconds", "latchkey_key_lookups_total", "latchkey_store_seconds",
                    "latchkey_region_seconds", "latchkey_keys_cached", "latchkey_record_rows_total",
                    "latchkey_record_wait_seconds", "latchkey_record_spool_rows", "latchkey_record_spool_bytes",
                ], stage
            ) { () async throws in
                #expect(try await stage.license(1).status == 200)
            })
        moved.formUnion(
            try await moves(["latchkey_sessions", "latchkey_sessions_at_least"], stage) { () async throws in
                #expect(try await stage.license(2).status == 200)
                let some = AccountSessions(accounts: PartlyCounted(), secrets: [])
                _ = await SessionCounts(some, shared.metrics).counts(of: ["demo"])
            })
        moved.formUnion(
            try await moves(["latchkey_packager_requests_total"], stage) { () async throws in
                #expect(try await stage.server.packager("speke", "POST", body: "<nope/>").status == 422)
            })
        moved.formUnion(
            try await moves(["latchkey_tenant_use"], stage) { () async throws in await server.exchangeUsage() })
        moved.formUnion(
            try await moves(["latchkey_tenant_limit_refusals_total"], stage) { () async throws in
                let document = ServerUnderTest.document(4...5)
                #expect(try await stage.server.admin("tenants/demo/cpix", "POST", body: document).status == 409)
            })
        moved.formUnion(
            try await moves(["latchkey_audit_sequence"], stage) { () async throws in
                #expect(try await stage.server.admin("sign-in", "POST").status == 200)
            })
        moved.formUnion(try await pool(stage))
        moved.formUnion(try await batch(stage))
        moved.formUnion(
            try await moves(["latchkey_shed_total"], stage) { () async throws in
                while shared.packagers.begin(of: "demo") {}
                #expect(try await stage.server.packager("speke", "POST", body: "<nope/>").status == 503)
                shared.packagers.end(of: "demo")
            })
        moved.formUnion(
            try await moves(["latchkey_log_dropped_total"], stage) { () async throws in
                // The log of the admin API has a thousand lines a second.
                for _ in 0..<2_500 { shared.log.write(LogEntry(.info, .admin)) }
            })
        moved.formUnion(
            try await moves(
                ["latchkey_node_copy_keys", "latchkey_node_copy_bytes", "latchkey_node_copy_timestamp_seconds"], stage
            ) { () async throws in
                await server.lookAtEngines()
            })
        moved.formUnion(
            try await moves(
                ["latchkey_store_outage", "latchkey_store_errors_total", "latchkey_pending_changes"], stage
            ) { () async throws in
                stage.database.setDown(true)
                await stage.tick()
                _ = try await stage.server.admin("tenants/demo/keys/\(ServerUnderTest.kid(1))/disable", "POST")
            })
        moved.formUnion(
            try await moves(["latchkey_store_redirections_total"], stage) { () async throws in
                stage.redirections.withLock { $0[.moved, default: 0] += 1 }
            })
        moved.formUnion(
            try await moves(["latchkey_licenses_degraded_total"], stage) { () async throws in
                #expect(try await stage.license(2).status == 200)
            })
        moved.formUnion(
            try await moves(["latchkey_region_outage"], stage) { () async throws in
                stage.database.sessions.setDown(true)
                #expect(try await stage.license(2).status == 200)
            })
        stage.database.sessions.setDown(false)
        stage.database.setDown(false)
        await stage.tick()
        moved.formUnion(
            try await moves(["latchkey_callout_outage"], stage) { () async throws in
                isServiceDown.withLock { $0 = true }
                #expect(try await stage.license(3).status == 503)
            })
        moved.formUnion(try await configuration(stage, certificate))
        moved.formUnion(
            try await moves(["latchkey_tokens_rejected_total", "latchkey_rate_limited_total"], stage) {
                () async throws in
                for _ in 0..<30 { _ = try await stage.license(1, token: "no.token.atall") }
            })
        moved.formUnion(
            try await moves(["latchkey_audit_intact"], stage) { () async throws in
                let last = try #require(try await stage.database.last())
                let forged = AuditEntry(
                    sequence: last.sequence + 1, text: last.text, previous: last.hash, hash: last.hash)
                #expect(try await stage.database.append(forged))
                #expect(try await stage.server.admin("audit/verify", "POST").status == 200)
            })
        moved.formUnion(try await record(stage))
        moved.formUnion(try await moves(["latchkey_ready"], stage) { () async throws in shared.isDraining = true })
        moved.formUnion(Self.standing(stage))
        let declared = Set(shared.metrics.names.map(\.name))
        #expect(declared.subtracting(moved) == [], "Nothing moves these. Add the event that does, or remove them.")
        await stage.end()
    }

    /// Rows of the record that wait, are shipped, come late and are lost.
    private func record(_ stage: OutageStage) async throws -> Set<String> {
        let shared = stage.server.server.shared
        let record = try #require(shared.record)
        record.viewers(["demo": 1])
        await record.spool.flush()
        var moved = try await moves(["latchkey_record_oldest_seconds"], stage) { () async throws in await stage.tick() }
        moved.formUnion(
            try await moves(["latchkey_record_shipped_total"], stage) { () async throws in
                while record.spool.standing.rows > 0 { await stage.tick() }
            })
        let (gate, fails) = (DispatchSemaphore(value: 0), Locked(true))
        let other = try LicenseRecord(
            record.settings, folder: stage.server.folder.path("other"), node: "n", to: RecordFiles(folder: "/nowhere"),
            pseudonyms: shared.pseudonyms, metrics: shared.metrics, log: shared.log, timekeeper: SystemTimekeeper(),
            disk: SpoolDisk(write: { _, _ in
                if !fails.withLock({ $0 }) { gate.wait() }
                return ENOSPC
            }))
        moved.formUnion(
            try await moves(["latchkey_record_lost_total"], stage) { () async throws in
                other.viewers(["demo": 1])
                await other.spool.flush()
            })
        fails.withLock { $0 = false }
        var report = LicenseReport(tenant: "demo", endpoint: .fairPlay, requestID: "r", at: .zero)
        report.outcome = .license
        let late = report
        moved.formUnion(
            try await moves(["latchkey_record_late_total"], stage) { () async throws in
                #expect(await other.keep(late, LicenseRequestFacts()))
            })
        gate.signal()
        return moved
    }

    /// Work that waits for a thread.
    private func pool(_ stage: OutageStage) async throws -> Set<String> {
        let pool = stage.server.server.shared.pool
        let (begins, ends) = (Promise<Void, Never>(), DispatchSemaphore(value: 0))
        let first = Task {
            _ = await pool.run(.start, session: "first") {
                begins.resolve(.success(()))
                ends.wait()
            }
        }
        try await begins.value
        let second = Locked<Task<Void, Never>?>(nil)
        var moved = try await moves(["latchkey_pool_waiting"], stage) { () async throws in
            second.withLock { $0 = Task { _ = await pool.run(.start, session: "second") {} } }
            while pool.admission.waiting == 0 { await Task.yield() }
        }
        moved.formUnion(
            try await moves(["latchkey_pool_busy_threads", "latchkey_pool_wait_seconds"], stage) { () async throws in
                ends.signal()
                await first.value
                await second.withLock { $0 }?.value
            })
        return moved
    }

    /// Licenses that wait together, of which one is computed wrong.
    private func batch(_ stage: OutageStage) async throws -> Set<String> {
        let shared = stage.server.server.shared
        let opening = try #require(shared.batches.opening)
        let device = try SimulatedDevice(directory: URL(filePath: stage.server.demo.credentials))
        var generator = SystemRandomNumberGenerator()
        let spc = Array(try device.exchange(for: "skd://movie", using: &generator).spc.revealed)
        let input = KeyServerModule.Opening(module: stage.server.server.current.licensee.module, spc: spc)
        // However long the machine takes, nobody is refused.
        let patience = AdmissionRules(target: .seconds(3_600), patience: .seconds(3_600), deadline: .seconds(3_600))
        let pool = WorkerPool(threads: 1, rules: patience)
        return try await moves(
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

    /// What a changed configuration moves.
    private func configuration(_ stage: OutageStage, _ certificate: SelfSigned) async throws -> Set<String> {
        let (server, folder) = (stage.server.server, stage.server.demo.url)
        let keySet = folder.appending(path: "jwks.json")
        let (policy, good) = (folder.appending(path: "policies/demo.json"), try Data(contentsOf: keySet))
        var moved = try await moves(["latchkey_policy_info"], stage) { () async throws in
            let text = try String(contentsOf: policy, encoding: .utf8)
            try Data(text.replacing(#""lease": "5m""#, with: #""lease": "6m""#).utf8).write(to: policy)
            try await server.reload()
        }
        moved.formUnion(
            try await moves(["latchkey_key_set_keys"], stage) { () async throws in
                let text = String(decoding: good, as: UTF8.self).replacing(
                    #""keys":["#, with: #""keys":[{"kty":"oct","alg":"HS256","kid":"short","k":"AAAA"},"#)
                try Data(text.utf8).write(to: keySet)
                try await server.reload()
            })
        moved.formUnion(
            try await moves(["latchkey_key_set_failed"], stage) { () async throws in
                try Data("{}".utf8).write(to: keySet)
                await #expect(throws: (any Error).self) {
                    try await server.current.tenants["demo"]?.tokenKeys?.reload()
                }
            })
        moved.formUnion(
            try await moves(["latchkey_config_last_reload_successful"], stage) { () async throws in
                await #expect(throws: (any Error).self) { try await server.reload() }
            })
        try good.write(to: keySet)
        moved.formUnion(
            try await moves(["latchkey_tls_certificate_expiry_timestamp_seconds"], stage) { () async throws in
                try Data(certificate.certificate.utf8).write(to: folder.appending(path: "players.pem"))
                try PrivateFile.write(
                    Secret(certificate.privateKey), to: folder.appending(path: "players-key.pem"))
                try ServerStage.edit(stage.server.demo.configuration) { text in
                    text = text.replacing(
                        #""players": {"#,
                        with: #""players": {"certificate": "players.pem", "privateKey": "players-key.pem", "#)
                }
                try await server.reload()
            })
        return moved
    }

    /// What is there from the start and moves with the program only.
    private static func standing(_ stage: OutageStage) -> Set<String> {
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

    @Test(arguments: ["grafana/latchkey.json", "prometheus/alerts.yml"])
    func `a dashboard and alerts name no metric that is not declared`(file: String) throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Deployment/\(file)")
        let text = try String(contentsOf: path, encoding: .utf8)
        let declared = Set(ServerMetrics(version: "1").names.map(\.name))
        let named = text.matches(of: /latchkey_[a-z_0-9]+/).map { Self.metric(of: String($0.output), declared) }
        #expect(!named.isEmpty)
        #expect(Set(named).subtracting(declared) == [])
    }
}
