import Foundation
import LatchkeyHTTP
import LatchkeySystem
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing

@Suite(.timeLimit(.minutes(5))) struct ServerMetricsTests {
    private let metrics = ServerMetrics(version: "1.2.3", tenants: 3)

    /// - Parameter refusal: the code of the refusal; `nil` for a license.
    private func record(tenant: String = "a", refusal: String? = nil, ms: Int = 4) {
        var report = LicenseReport(tenant: tenant, endpoint: .fairPlay, requestID: "request-1", at: .zero)
        report.outcome =
            refusal.map { .refused(LicenseRefusal(.vendor(code: $0, status: 403), reason: "No.", remedy: "Go.")) }
            ?? .license
        report.end(.open, at: .milliseconds(ms - 1))
        report.end(.policy, at: .milliseconds(ms - 1) + .microseconds(20))
        metrics.record(report, at: .milliseconds(ms))
    }

    private func lines(_ format: MetricFormat = .prometheus) -> [String] {
        metrics.text(format).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func `a license counts in its labels, its duration and its stages`() {
        record()
        record(refusal: "sessionLimit", ms: 30)
        let lines = lines()
        let labels = "tenant=\"a\",endpoint=\"fairplay\",drm=\"fairplay\""
        #expect(lines.contains("latchkey_license_requests_total{\(labels),outcome=\"granted\",reason=\"\"} 1"))
        #expect(
            lines.contains("latchkey_license_requests_total{\(labels),outcome=\"refused\",reason=\"sessionLimit\"} 1"))
        let duration = "latchkey_license_duration_seconds"
        // A license takes less than a millisecond on a fast machine.
        for bound in ["0.00025", "0.0005", "0.0025"] {
            #expect(lines.contains("\(duration)_bucket{endpoint=\"fairplay\",le=\"\(bound)\"} 0"))
        }
        #expect(lines.contains("\(duration)_bucket{endpoint=\"fairplay\",le=\"0.005\"} 1"))
        #expect(lines.contains("\(duration)_bucket{endpoint=\"fairplay\",le=\"+Inf\"} 2"))
        #expect(lines.contains("\(duration)_count{endpoint=\"fairplay\"} 2"))
        #expect(lines.contains { $0.hasPrefix("\(duration)_sum{endpoint=\"fairplay\"} 0.034") })
        #expect(lines.contains("latchkey_license_stage_seconds_count{stage=\"open\"} 2"))
        #expect(lines.contains("latchkey_license_stage_seconds_count{stage=\"token\"} 0"))
    }

    @Test func `a time on a bound belongs to its bucket`() {
        metrics.poolWait.observe(.milliseconds(25))
        #expect(lines().contains("latchkey_pool_wait_seconds_bucket{le=\"0.025\"} 1"))
        #expect(lines().contains("latchkey_pool_wait_seconds_bucket{le=\"0.01\"} 0"))
    }

    @Test func `strangers' input is kept bounded`() {
        for number in 0..<1_000 { record(tenant: "t\(number)", refusal: "r\(number)") }
        #expect(metrics.licenseRequests.series.count <= 3 * 201 + 201)
        #expect(metrics.licenseRequests.series.contains { $0.values[0] == "other" })
        #expect(
            metrics.licenseRequests["t999", "fairplay", "fairplay", "refused", "r999"]
                === metrics.licenseRequests["t998", "fairplay", "fairplay", "refused", "r998"])
        metrics.shed["start", "made-up"].add()
        #expect(lines().contains("latchkey_shed_total{lane=\"start\",why=\"other\"} 1"))
    }

    @Test func `a counter whose labels have fixed values has all series from the start, and no other has`() {
        #expect(lines().contains("latchkey_http_refusals_total{listener=\"players\",status=\"431\"} 0"))
        #expect(lines().contains("latchkey_licenses_degraded_total{why=\"sessionStore\"} 0"))
        #expect(!lines().contains { $0.hasPrefix("latchkey_tokens_rejected_total{") })
    }

    @Test func `series are limited across all labels`() {
        let family = MetricFamily("x_total", "X.", [.first(100, "a"), .first(100, "b")], limit: 50, make: Counter.init)
        for number in 0..<2_500 { family["\(number % 50)", "\(number / 50)"].add() }
        #expect(family.series.count == 51)
        #expect(family.series.reduce(0) { $0 + ($1.lines.first?.value ?? 0) } == 2_500)
    }

    @Test func `quotes, backslashes and line ends in label values are escaped`() {
        metrics.tokensRejected["a\"b\\c\nd"].add()
        #expect(lines().contains("latchkey_tokens_rejected_total{reason=\"a\\\"b\\\\c\\nd\"} 1"))
    }

    @Test func `a new value replaces the old one`() {
        metrics.policyInfo.replaceAll([(["basic", "d1"], 1)])
        metrics.policyInfo.replaceAll([(["basic", "d2"], 1)])
        #expect(
            lines().filter { $0.hasPrefix("latchkey_policy_info{") } == [
                "latchkey_policy_info{name=\"basic\",digest=\"d2\"} 1"
            ])
    }

    @Test func `gauges are set before the text`() {
        metrics.beforeText { [metrics] in metrics.poolWaiting.set(7) }
        #expect(lines().contains("latchkey_pool_waiting 7"))
    }

    @Test(
        arguments: [
            (nil, MetricFormat.prometheus), ("*/*", .prometheus), ("text/plain", .prometheus),
            ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics),
            ("application/openmetrics-text; q=0.3, text/plain", .prometheus),
            ("application/openmetrics-text;q=0", .prometheus),
        ] as [(String?, MetricFormat)])
    func `the format is the requested one`(accept: String?, format: MetricFormat) {
        var headers = HTTPHeaders()
        headers[.accept] = accept
        let response = metrics.response(to: HTTPRequest(method: .get, target: "/metrics", headers: headers))
        #expect(response.headers[.contentType] == format.contentType)
        let text = String(decoding: response.bytes ?? Data(), as: UTF8.self)
        #expect(text.hasSuffix("# EOF\n") == (format == .openMetrics))
    }

    #if os(Linux)
        @Test func `the process is measured`() {
            let lines = lines()
            let value = { (name: String) in
                lines.first { $0.hasPrefix("\(name) ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
            }
            #expect((value("process_cpu_seconds_total") ?? 0) > 0)
            #expect((value("process_resident_memory_bytes") ?? 0) > 1_000_000)
            #expect((value("process_open_fds") ?? 0) >= 3)
            let age = Date().timeIntervalSince1970 - (value("process_start_time_seconds") ?? 0)
            #expect(-2...86_400 ~= age)
        }
    #endif

    @Test func `alerts and dashboard name existing metrics`() throws {
        let kinds = Dictionary(uniqueKeysWithValues: metrics.names.map { ($0.name, $0.type) })
        // The metrics of `latchkey probe` are in `ProbeToolTests`.
        let others =
            ProcessFigures().families.map(\.name) + ["latchkey_probe_success", "latchkey_probe_timestamp_seconds"]
        for file in ["Deployment/prometheus/alerts.yml", "Deployment/grafana/latchkey.json"] {
            let text = try String(contentsOf: Self.root.appendingPathComponent(file), encoding: .utf8)
            let used = text.matches(of: /\b(?:latchkey|process)_[a-z0-9_]+/).map { String($0.output) }
            #expect(used.count > 5)
            for name in Set(used) where kinds[name] == nil && !others.contains(name) {
                let base = ["_bucket", "_sum", "_count"].first(where: name.hasSuffix).map {
                    String(name.dropLast($0.count))
                }
                #expect(kinds[base ?? ""] == "histogram", "\(file): \(name)")
            }
        }
    }

    @Test(
        .enabled(if: Self.python != nil, "needs Python with prometheus_client: set LATCHKEY_PYTHON"),
        arguments: [MetricFormat.prometheus, .openMetrics])
    func `an independent reader reads both forms`(format: MetricFormat) throws {
        record()
        record(tenant: "quote\"back\\slash\nline", refusal: "place")
        metrics.poolWait.observe(.seconds(1))
        let module = format == .openMetrics ? "prometheus_client.openmetrics.parser" : "prometheus_client.parser"
        let script = """
            import sys, \(module) as p
            families = list(p.text_string_to_metric_families(sys.stdin.read()))
            kinds = {f.name: f.type for f in families}
            assert kinds['latchkey_license_duration_seconds'] == 'histogram', kinds
            assert kinds['latchkey_license_requests'] == 'counter', kinds
            tenants = {s.labels.get('tenant') for f in families for s in f.samples}
            assert 'quote"back\\\\slash\\nline' in tenants, tenants
            sys.stdout.write(str(len(families)))
            """
        let answer = try Self.run(script, input: metrics.text(format))
        #expect(Int(answer) == metrics.names.count + ProcessFigures().families.count)
    }

    private static let root = (1...3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    /// A Python that has `prometheus_client`: the one in `LATCHKEY_PYTHON`, or the first on the path.
    private static let python: String? = {
        let names = [ProcessInfo.processInfo.environment["LATCHKEY_PYTHON"], "/usr/bin/python3"].compactMap { $0 }
        return names.first { (try? run("import prometheus_client", input: "", python: $0)) != nil }
    }()

    private struct Failed: Error {
        let text: String
    }

    private static func run(_ script: String, input: String, python: String? = nil) throws -> String {
        let process = Subprocess()
        process.executableURL = URL(fileURLWithPath: python ?? Self.python ?? "/usr/bin/python3")
        process.arguments = ["-c", script]
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stderr)
        try process.run()
        try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        let errors = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(text: String(decoding: errors, as: UTF8.self)) }
        return String(decoding: output, as: UTF8.self)
    }
}
