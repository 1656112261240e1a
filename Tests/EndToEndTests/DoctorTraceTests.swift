import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyServices
import LatchkeySupport
import LatchkeyTesting
import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeySystem
#endif

/// Runs `latchkey doctor --trace --html` on setups with one fault each: both pages name the step and the one true cause at the top.
@Suite(
    .serialized, .enabled(if: ToolProcess.isThere && TestAuthority.isThere, "needs the built tool and openssl"),
    .timeLimit(.minutes(5)))
struct DoctorTraceTests {
    /// Ten faults of ten kinds, and the step at which each is.
    static let setups: [(cause: String, step: String)] = [
        ("missingSetting", "settings"), ("expired", "token"), ("forbidden", "license"), ("spcIsCKC", "spc"),
        ("notFound", "certificate"), ("clocksDiffer", "clock"), ("hostRefused", "license"),
        ("cannotConnect", "network"), ("serverTransient", "license"), ("licenseMalformed", "license"),
    ]

    @Test(arguments: setups)
    func `the page names step and cause at its top`(cause: String, step: String) async throws {
        // A license may be not found, too.
        let setup = try #require(
            DoctorSabotageTests.setups.first {
                $0.cause == cause && (cause != "notFound" || $0.sentence.contains("certificate"))
            })
        try await LiveServices.with(keys: setup.keys?()) { live in
            let stage = try DoctorStage(live, setup.profile, setup.asset)
            try await setup.sabotage(stage)
            let files = ["trace.html", "report.html", "trace.json", "trace.har"].map { stage.folder.path($0) }
            stage.options += ["--trace", files[0], "--html", files[1]]
            let found = try await stage.diagnose()
            stage.options.removeLast(4)
            for file in files.dropFirst(2) {
                stage.options += ["--trace", file]
                _ = try await stage.diagnose()
                stage.options.removeLast(2)
            }
            await stage.stop()
            #expect(found.cause == cause)
            for file in files.prefix(2) {
                let page = try String(contentsOfFile: file, encoding: .utf8)
                let top = page.split(separator: "<h2>").dropFirst().first ?? ""
                #expect(top.hasPrefix("\(step): \(cause)</h2>"), "\(top.prefix(300))")
                #expect(top.contains("What to do: "))
            }
            for file in files {
                let text = try String(contentsOfFile: file, encoding: .utf8)
                let ids = stage.service.environment.authority.keys.keys.map { Data("\($0.id)".utf8) }
                for secret in stage.service.secrets where !ids.contains(secret) {
                    #expect(SecretForms(secret).found(in: text).isEmpty)
                }
            }
        }
    }

    @Test func `play traces the way from playlist to picture`() async throws {
        let folder = try TemporaryFolder()
        let run = try await ToolProcess.run("play", "--vendor", "vudrm", "--trace", folder.path("t.html"))
        #expect(run.status == 0, "\(run.error)")
        let page = try String(contentsOf: folder.file("t.html"), encoding: .utf8)
        for words in ["GET playlist, 200", "GET certificate, 200", "POST license, 200", "decryption and decoding"] {
            #expect(page.contains(words), "\(words)")
        }
    }

    @Test func `a live stream's page shows leases and renewals`() async throws {
        let folder = try TemporaryFolder()
        let run = try await ToolProcess.run(
            "play", "--vendor", "ezdrm", "--virtual", "--for", "30m", "--trace", folder.path("t.html"))
        #expect(run.status == 0, "\(run.error)")
        let page = try String(contentsOf: folder.file("t.html"), encoding: .utf8)
        #expect(page.contains("Leases and renewals") && page.contains("lease of 600 s"))
    }
}

/// The client's view of a trace, as `LatchkeyServer` reads it.
@Suite(.timeLimit(.minutes(5))) struct TraceJoinTests {
    @Test func `the server continues the trace that the client's page names`() async throws {
        let transport = FakeTransport { _, _ in .ok(SampleBytes.certificate) }
        var configuration = LoaderConfiguration(certificateFetch: .withFirstKey, tracing: .traceparent)
        let recorded = Locked(KeyTrace())
        configuration.observer = { event in recorded.withLock { $0.add(event) } }
        let loader = ContentKeyLoader(
            try VendorProfile.vuDRMRaw.configured(["certificateURL": "https://a.example/c"]),
            configuration: configuration, transport: transport)
        _ = try await loader.applicationCertificate()
        let field = try #require(transport.requests.first?.value(forHTTPHeaderField: "traceparent"))
        var generator = SystemRandomNumberGenerator()
        let context = TraceContext(of: ["traceparent": field], using: &generator)
        let page = String(decoding: recorded.withLock { $0 }.data(as: .html), as: UTF8.self)
        #expect(context.isSampled && context.parentID != nil && page.contains("trace \(context.traceID)"))
    }
}

/// OTLP and HAR are read by programs that others wrote: `opentelemetry-proto`, `haralyzer` and `hario-core` of PyPI.
@Suite(.enabled(if: ToolProcess.isThere && TraceReader.isThere, TraceReader.whyNot), .timeLimit(.minutes(5)))
struct TraceReaderTests {
    @Test(arguments: [("json", TraceReader.openTelemetry), ("har", TraceReader.archive)])
    func `another reader finds the requests`(ending: String, program: String) async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("trace.\(ending)")
        let run = try await ToolProcess.run("play", "--vendor", "vudrm", "--trace", file)
        #expect(run.status == 0, "\(run.error)")
        #expect(try await TraceReader.run(program, file) == "right")
    }

    /// `hario-core` has HAR 1.2 as a schema: every required field, each with its type, dates by ISO 8601.
    @Test func `archives follow the HAR schema, whatever the requests' outcome`() async throws {
        let folder = try TemporaryFolder()
        let files = ["play", "refused", "none"].map { folder.path("\($0).har") }
        let run = try await ToolProcess.run("play", "--vendor", "vudrm", "--trace", files[0])
        #expect(run.status == 0, "\(run.error)")
        try Self.refusals.data(as: .har).write(to: URL(filePath: files[1]))
        try KeyTrace().data(as: .har).write(to: URL(filePath: files[2]))
        for (file, count) in zip(files, [3..., 3...3, 0...0] as [any RangeExpression<Int> & Sendable]) {
            let found = try await TraceReader.run(TraceReader.schema, file)
            let number = Int(found)
            #expect(number.map { count.contains($0) } == true, "\(file): \(found)")
        }
    }

    /// A request without a reply, one with a query and marks in its address, and one that was refused.
    private static var refusals: KeyTrace {
        var trace = KeyTrace(seed: 7)
        let requests: [(String, Int?)] = [
            ("https://a.example/license", nil), ("https://a.example/k\u{e9}y?a=b&c&d=e=f", 200),
            ("https://a.example/license", 403),
        ]
        for (index, (url, status)) in requests.enumerated() {
            trace.add(
                KeyEvent(
                    exchange: index + 1, key: "skd://a.example/\u{1f98a}", date: Date(),
                    kind: .exchanged(
                        KeyEvent.HTTPSummary(
                            stage: .license, method: "POST", url: url, status: status, milliseconds: 1.0 / 3))))
        }
        let error = ContentKeyError(.forbidden, stage: .license, "The service answered 403.", remedy: "Ask.")
        trace.add(
            KeyEvent(exchange: 3, key: "skd://a.example/x", date: Date(), kind: .failed(error, took: .milliseconds(1))))
        return trace
    }
}

/// Python with the packages.
enum TraceReader {
    static let whyNot: Comment = "The readers of PyPI are not there; make readers fetches them"
    private static let packages = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../.build/trace-readers").standardizedFileURL.path
    static let isThere = ["opentelemetry", "haralyzer", "hario_core"].allSatisfy {
        FileManager.default.fileExists(atPath: "\(packages)/\($0)")
    }

    /// Reads identifiers as OTLP's JSON has them, in hexadecimal, and the rest by the schema.
    static let openTelemetry = """
        import base64, json, sys
        from google.protobuf.json_format import ParseDict
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
        data = json.load(open(sys.argv[1]))
        for span in data['resourceSpans'][0]['scopeSpans'][0]['spans']:
            for name in ('traceId', 'spanId', 'parentSpanId'):
                if name in span: span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
        spans = ParseDict(data, TracesData()).resource_spans[0].scope_spans[0].spans
        ids = {span.span_id for span in spans}
        assert len(ids) == len(spans) and all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in spans)
        assert all(not span.parent_span_id or span.parent_span_id in ids for span in spans)
        assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 10**18 for span in spans)
        assert sum(span.name == 'POST license' for span in spans) == 2
        sys.stdout.write('right')
        """

    static let archive = """
        import json, sys
        from haralyzer import HarParser
        har = HarParser(json.load(open(sys.argv[1])))
        entries = [entry for page in har.pages for entry in page.entries]
        assert har.version == '1.2' and sum(entry.request.method == 'POST' for entry in entries) == 2
        assert all(entry.response.status == 200 and entry.startTime.year >= 2024 for entry in entries)
        sys.stdout.write('right')
        """

    /// Prints how many requests there are, or the first error. Strict: no text counts as a number. Rules beyond the schema follow
    /// it: that times are the sums of their parts, pages are there, and the schema finds missing members.
    static let schema = """
        import copy, json, sys
        from hario_core.models import HarLog
        def check(log): return HarLog.model_validate_json(json.dumps(log), strict=True)
        log = json.load(open(sys.argv[1]))['log']
        try:
            read = check(log)
            assert read.version == '1.2'
            assert all(one.startedDateTime.tzinfo for one in read.pages + read.entries), 'dates'
            assert all(entry.pageref in {page.id for page in read.pages} for entry in read.entries), 'pages'
            for entry in read.entries:
                times = entry.timings
                parts = [times.blocked, times.dns, times.connect, times.send, times.wait, times.receive]
                assert entry.time == sum(part for part in parts if part and part > 0), 'times'
                assert all(ord(mark) < 127 for mark in entry.request.url), 'address'
            changes = [lambda one: one.pop('timings'), lambda one: one.update(time='1'),
                       lambda one: one['response'].pop('content'), lambda one: one.update(startedDateTime='now')]
            for change in changes:
                wrong = copy.deepcopy(log)
                if not wrong['entries']: break
                change(wrong['entries'][-1])
                try: check(wrong)
                except ValueError: continue
                raise ValueError('nothing is missed')
            sys.stdout.write(str(len(read.entries)))
        except Exception as error: sys.stdout.write(repr(error))
        """

    /// Waits on a separate thread.
    static func run(_ program: String, _ file: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try output(program, file) }) }
        }
    }

    private static func output(_ program: String, _ file: String) throws -> String {
        let process = Subprocess()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["PYTHONPATH=\(packages)", "python3", "-c", program, file]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }
}
