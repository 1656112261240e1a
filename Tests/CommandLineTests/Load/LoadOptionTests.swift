import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// Each option of `latchkey load` does something that a server or the report shows.
@Suite(.timeLimit(.minutes(1))) struct LoadOptionTests {
    /// Runs a load with some words against a server, and says which license requests came to it. `{folder}` stands for a folder with test
    /// credentials, a token and a key, `{server}` for the server's address.
    private static func load(
        _ words: [String], at license: String = "{server}/t/x/fairplay",
        answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in HTTPResponse(status: 403) },
        _ look: (RecordedRun, [HTTPRequest], TemporaryFolder) throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let credentials = try TestCredentials.make(bits: 1024)
        try credentials.write(to: folder.file("c"))
        try folder.write("a-token\n", to: "token.txt")
        try folder.write(key + "\n", to: "key.hex")
        let requests = Locked<[HTTPRequest]>([])
        let certificate = credentials.credential.certificate.der
        let server = HTTPServer(HTTPServerConfiguration()) { request in
            if request.method == .post { requests.withLock { $0.append(request) } }
            if request.path == "/certificate" { return HTTPResponse(status: 200, body: .bytes(certificate)) }
            return answer(request)
        }
        let address = "http://127.0.0.1:\(try server.start())"
        let all = ["load", "--license-url", license, "--credentials", "{folder}/c", "--json"] + words
        let run = await RecordedRun(
            all.map { $0.replacing("{server}", with: address).replacing("{folder}", with: folder.url.path) },
            tool: .standard)
        await server.stop()
        try look(run, requests.withLock { $0 }, folder)
    }

    private static let key = String(repeating: "07", count: 32)
    private static let short = ["--rate", "20", "--for", "1s", "--arrivals", "fixed"]

    @Test func `all viewers get the token of a file`() async throws {
        try await Self.load(Self.short + ["--token-file", "{folder}/token.txt"]) { run, requests, _ in
            #expect(run.status == .yes, "\(run.error)")
            #expect(Set(requests.map { $0.headers[.authorization] }) == ["Bearer a-token"])
        }
    }

    @Test(arguments: [([], "demo"), (["--token-key-id", "k7"], "k7")])
    func `each viewer's token is signed with a key, and names it`(_ words: [String], _ name: String) async throws {
        let signer = try TokenSigner(
            .hs256, id: TokenKeyID(name), secret: Secret(try #require(Data(hexString: Self.key))))
        let words = ["--token-key", "{folder}/key.hex", "--viewers", "3"] + words
        try await Self.load(Self.short + words) { _, requests, _ in
            var viewers: Set<String> = []
            for request in requests {
                let token = try #require(request.headers[.authorization]).dropFirst("Bearer ".count)
                let payload = try #require(token.split(separator: ".").dropFirst().first)
                guard case .object(let claims)? = Base64URL.bytes(of: payload.utf8).flatMap({ JSONValue(Data($0)) })
                else {
                    Issue.record("No claims: \(token)")
                    continue
                }
                #expect(try signer.token(claims).revealedText == token)
                if let viewer = claims["sub"]?.text { viewers.insert(viewer) }
            }
            #expect(viewers == ["viewer-0", "viewer-1", "viewer-2"])
        }
    }

    @Test(arguments: [
        ("/certificate", ""), ("/other", "differs from that of"), ("/nothing", "answered 404"),
    ])
    func `the server's certificate is compared before the load`(_ path: String, _ reason: String) async throws {
        let answer: @Sendable (HTTPRequest) -> HTTPResponse = { request in
            if request.path == "/other" { return HTTPResponse(status: 200, body: .bytes(Data([1]))) }
            return HTTPResponse(status: request.path == "/nothing" ? 404 : 403)
        }
        try await Self.load(Self.short + ["--certificate-url", "{server}\(path)"], answer: answer) { run, requests, _ in
            #expect(requests.isEmpty == !reason.isEmpty)
            guard !reason.isEmpty else { return }
            #expect(run.errorCode == "loadImpossible")
            #expect(run.output.contains(reason), "\(run.output)")
        }
    }

    @Test(arguments: [([], 10), (["--keys", "3"], 3), (["--content-id", "skd://one", "--keys", "3"], 1)])
    func `SPCs request as many keys as planned`(_ words: [String], _ count: Int) async throws {
        let many = ["--rate", "200", "--for", "1s", "--arrivals", "fixed"]
        try await Self.load(many + words) { _, requests, folder in
            let module = KeyServerModule(
                credentials: [try KeyServerCredential(directory: folder.file("c"))],
                derivation: InsecureTestDerivation())
            // Each SPC is sent again and again.
            let identifiers = try Set(Set(requests.map(\.body)).map { try module.open($0).assetID.description })
            #expect(identifiers.count == count)
            if count == 1 { #expect(identifiers == ["skd://one"]) }
        }
    }

    @Test func `a request is retried immediately if Retry-After is ignored`() async throws {
        let words = ["--retry", "1", "--ignore-retry-after"]
        let answer: @Sendable (HTTPRequest) -> HTTPResponse = { _ in
            HTTPResponse(status: 503, headers: [.retryAfter: "25"])
        }
        try await Self.load(Self.short + words, answer: answer) { run, requests, _ in
            let starts = try #require(run.json["starts"] as? Int)
            #expect(requests.count == 2 * starts && run.json["retries"] as? Int == starts)
            let seconds = try #require(run.json["seconds"] as? Double)
            #expect(seconds < 25)
        }
    }

    @Test func `the wait for a reply ends at its limit`() async throws {
        let server = try LoopbackServer { _, _ in .hang }
        let words = ["--rate", "4", "--for", "1s", "--timeout", "1s"]
        // On a busy machine this takes its own time, too.
        let answered = Locked(0.0)
        try await Self.load(words) { run, _, _ in
            let seconds = try #require(run.json["seconds"] as? Double)
            answered.withLock { $0 = seconds }
        }
        try await Self.load(words, at: "http://127.0.0.1:\(server.port)/t/x/fairplay") { run, _, _ in
            #expect(run.status == .no)
            // Ten seconds longer without the option.
            let seconds = try #require(run.json["seconds"] as? Double)
            #expect(seconds < answered.withLock { $0 } + 9)
        }
    }

    @Test func `open connections stay within their limit`() async throws {
        let running = Locked((now: 0, most: 0))
        let server = try LoopbackServer { _, _ in
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            // A server that takes some time for each, so that requests queue.
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 0.2)
            running.withLock { $0.now -= 1 }
            return .keep("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
        }
        let place = "http://127.0.0.1:\(server.port)/t/x/fairplay"
        try await Self.load(Self.short + ["--connections", "2"], at: place) { run, _, _ in
            #expect(run.status == .yes, "\(run.error)")
            #expect(running.withLock { $0.most } == 2)
        }
    }

    @Test func `a seed sets when playbacks begin`() async {
        func starts(_ seed: String) async -> [Int] {
            let run = await RecordedRun(
                "load", "--virtual", "--rate", "30", "--for", "10s", "--seed", seed, "--json")
            return (run.json["timeline"] as? [[String: Any]] ?? []).compactMap { $0["starts"] as? Int }
        }
        let first = await starts("5")
        #expect(first.reduce(0, +) > 200)
        #expect(await starts("5") == first)
        #expect(await starts("6") != first)
    }

    @Test(arguments: [
        ([], ["rate": "10", "seconds": "10", "arrivals": "poisson", "viewers": "100", "retries": "0"]),
        (
            [
                "--rate", "20", "--for", "2s", "--arrivals", "fixed", "--viewers", "7", "--retry", "3", "--watch", "1m",
                "--ignore-retry-after",
            ],
            [
                "rate": "20", "seconds": "2", "arrivals": "fixed", "viewers": "7", "retries": "3", "watching": "60",
                "obeysRetryAfter": "0",
            ]
        ),
    ])
    func `the report states the plan`(_ words: [String], _ expected: [String: String]) async {
        let run = await RecordedRun(["load", "--virtual", "--json"] + words, tool: .standard)
        let plan = (run.json["plan"] as? [String: Any] ?? [:]).mapValues { value in
            (value as? NSNumber).map { "\($0.intValue)" } ?? "\(value)"
        }
        for (name, value) in expected { #expect(plan[name] == value, "\(name) of \(plan)") }
    }
}
