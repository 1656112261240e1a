import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(1))) struct LoadVerbTests {
    /// A folder with test credentials, deleted at the end.
    private static func withCredentials(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "load-\(UUID().uuidString)")
        try TestCredentials.make(bits: 1024).write(to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    @Test func `an in-process server gives licenses that devices open`() async throws {
        try await Self.withCredentials { folder in
            let page = folder + "/load.html"
            let run = await RecordedRun(
                "load", "--in-process", "--credentials", folder, "--rate", "100", "--for", "1s", "--viewers", "5",
                // A busy machine's server refuses some, which try again.
                "--retry", "1000", "--json", "--html", page)
            #expect(run.status == .yes, "\(run.error)")
            #expect((run.json["opened"] as? Int) == 5)
            #expect((run.json["lost"] as? Int) == 0)
            let text = try String(contentsOfFile: page, encoding: .utf8)
            #expect(text.contains("<svg") && text.contains("prefers-color-scheme: dark"))
            #expect(!text.contains("<script"))
        }
    }

    @Test func `an in-process policy refuses sessions beyond its limit`() async throws {
        try await Self.withCredentials { folder in
            let policy = folder + "/policy.json"
            try Data(
                #"{"version": 1, "name": "two", "validity": {"type": "lease", "lease": "5m"}, "concurrency": {"limit": 2}}"#
                    .utf8
            )
            .write(to: URL(filePath: policy))
            let run = await RecordedRun(
                "load", "--in-process", "--credentials", folder, "--rate", "100", "--for", "1s", "--viewers", "1",
                "--sessions", "50", "--policy", policy, "--retry", "1000", "--json")
            let requests = run.json["requests"] as? [String: [String: Any]]
            #expect(requests?["refused"]?["count"] as? Int ?? 0 > 10, "\(run.output)")
            #expect(run.status == .yes)
        }
    }

    @Test func `requests over sockets carry token and SPC, and replies are counted`() async throws {
        let seen = Locked<Set<String>>([])
        let server = HTTPServer(HTTPServerConfiguration()) { request in
            _ = seen.withLock {
                $0.insert(
                    "\(request.method) \(request.path) \(request.headers["Authorization"] ?? "") \(request.body.count > 500)"
                )
            }
            return HTTPResponse(status: 403, headers: [:], body: .bytes(Data(#"{"error":{"code":"right"}}"#.utf8)))
        }
        let port = try server.start()
        try await Self.withCredentials { folder in
            let run = await RecordedRun(
                "load", "--license-url", "http://127.0.0.1:\(port)/t/x/fairplay?a=b", "--credentials", folder,
                "--token-command", "echo token-of-$LATCHKEY_VIEWER", "--rate", "50", "--for", "1s", "--viewers", "1",
                "--json")
            #expect(run.status == .yes, "\(run.error)")
            let replies = run.json["replies"] as? [String: Int]
            #expect(replies?.keys.map(\.self) == ["403 right"])
        }
        await server.stop()
        #expect(seen.withLock { $0 } == ["POST /t/x/fairplay Bearer token-of-viewer-0 true"])
    }

    @Test func `a trace samples exchanges with the names of the server's log and without a token`() async throws {
        let server = HTTPServer(HTTPServerConfiguration()) { _ in
            HTTPResponse(status: 403, headers: ["X-Request-Id": "request-7"], body: .bytes(Data()))
        }
        let port = try server.start()
        try await Self.withCredentials { folder in
            let file = folder + "/load.har"
            let run = await RecordedRun(
                "load", "--license-url", "http://127.0.0.1:\(port)/t/x/fairplay", "--credentials", folder,
                "--token-command", "echo a-secret-token", "--rate", "20", "--for", "1s", "--arrivals", "fixed",
                "--trace", file)
            #expect(run.status == .yes, "\(run.error)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.components(separatedBy: "request-7").count > 19)
            #expect(!text.contains("a-secret-token"))
        }
        await server.stop()
    }

    @Test(arguments: [(2.0, 1), (50, 1), (100, 2), (3_000, 60)])
    func `a trace's sample is bounded at any rate`(rate: Double, interval: Int) {
        var plan = LoadPlan()
        (plan.rate, plan.length) = (rate, .seconds(10))
        #expect(plan.traceInterval == interval)
    }

    @Test func `without a server all requests are lost, with the cause`() async throws {
        try await Self.withCredentials { folder in
            let run = await RecordedRun(
                "load", "--license-url", "http://127.0.0.1:1/t/x/fairplay", "--credentials", folder, "--rate", "20",
                "--for",
                "1s", "--arrivals", "fixed", "--retry", "1")
            #expect(run.status == .no)
            #expect(run.output.contains("38 × connection refused"))
            #expect(run.output.contains("19 requests got no answer"))
        }
    }

    @Test func `in virtual time an hour of many devices is short`() async throws {
        let run = await RecordedRun(
            "load", "--virtual", "--viewers", "300", "--rate", "30", "--for", "10s", "--watch", "1h", "--json")
        let questions = run.json["questions"] as? [String: [String: Int]]
        let starts = try #require(questions?["start"]?["granted"])
        // A lease of 5 minutes in an hour: about 14 renewals, spread by the server's jitter.
        let renewals = try #require(questions?["renewal"]?["granted"])
        #expect((11 * starts...20 * starts).contains(renewals))
        #expect(run.status == .yes)
    }

    @Test(arguments: [
        [], ["--virtual", "--in-process"], ["--license-url", "ftp://x", "--credentials", "c"],
        ["--slots-part", "50"], ["--slots-url", "http://127.0.0.1:1/t/x/slots", "--slots-part", "50"],
        ["--slots-url", "http://127.0.0.1:1/t/x/slots", "--virtual"],
        ["--slots-url", "http://127.0.0.1:1/t/x/slots", "--certificate-url", "http://127.0.0.1:1/t/x/certificate"],
        ["--in-process"], ["--virtual", "--rate", "0"], ["--virtual", "--trace", "load.html"],
    ])
    func `conflicting arguments are refused`(arguments: [String]) async {
        let run = await RecordedRun(["load"] + arguments, tool: .standard)
        #expect(run.status != .yes)
        #expect(!run.error.isEmpty)
    }
}
