import Foundation
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHTTP
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// The operators' view of slots for licenses that other services make, and the example of such a service's proxy.
@Suite(.timeLimit(.minutes(3))) struct SlotServerTests {
    /// - Parameter rules: more members of the policy.
    private static func stage(
        limit: Int, _ slots: String = "players", rules: String = ""
    ) async throws -> TestServer {
        try await TestServer(["tenants.demo.slots": .text(slots)]) { folder in
            let policy = """
                {"version":1,"name":"demo","validity":{"type":"lease","lease":"5m"},\(rules)
                 "concurrency":{"limit":\(limit),"heartbeat":"30s"}}
                """
            try folder.write(policy, to: "policies/demo.json")
        }
    }

    @Test func `metrics, log, console and explain name the system of a slot`() async throws {
        let stage = try await Self.stage(limit: 2)
        let operators = stage.server.addresses.operators.url
        func slot(_ drm: String, _ session: String) async throws -> Int {
            let body = Data(#"{"drm":"\#(drm)","asset":"movie","session":"\#(session)"}"#.utf8)
            return try await stage.player(
                "slots", "POST", body: body, bearer: stage.token(), headers: ["X-Request-Id": "request-\(drm)"]
            ).status
        }
        #expect(try await stage.license().0.status == 200)
        #expect(try await slot("playready", "console") == 200)
        #expect(try await slot("widevine", "tv") == 403)

        let metrics = try await stage.operators("metrics").text
        for (drm, outcome, reason) in [
            ("fairplay", "granted", ""), ("playready", "granted", ""), ("widevine", "refused", "sessionLimit"),
        ] {
            let endpoint = drm == "fairplay" ? "fairplay" : "slot"
            let series = """
                latchkey_license_requests_total{tenant="demo",endpoint="\(endpoint)",drm="\(drm)",outcome="\(outcome)",reason="\(reason)"} 1
                """
            #expect(metrics.contains(series), "\(series)")
        }
        let slots = try await stage.admin("tenants/demo/account?name=anna").list("slots")
        #expect(slots.compactMap { $0["drm"]?.text }.sorted() == ["fairplay", "playready"])
        let key = try stage.root.write(TestServer.key(.security), to: "key.txt")
        for (id, word, drm) in [
            ("request-playready", "license", "playready"), ("request-widevine", "sessionLimit", "widevine"),
        ] {
            let why = await ToolRun(arguments: ["explain", id, "--server", operators, "--key", key])
            #expect(why.output.hasPrefix("\(word), by the policy “demo”"), "\(why.error)")
            #expect(why.output.contains("DRM       \(drm)\n"))
        }
        // Operators stop it as any other.
        let session = try #require(slots.first { $0["drm"]?.text == "playready" }?["session"]?.text)
        let stop = try await stage.admin(
            "tenants/demo/sessions/stop", "POST", body: #"{"account":"anna","session":"\#(session)"}"#)
        #expect(stop.status == 200, "\(stop.text)")
        #expect(try await slot("playready", "console") == 403)
        await stage.stop()
        let log = await stage.log
        #expect(log.contains(#""endpoint":"slot","drm":"widevine","outcome":"refused","reason":"sessionLimit""#))
        #expect(!log.contains("anna"))
    }

    /// A license service that answers as it was recorded: to the one request the one reply, byte for byte. The bytes mean nothing: there is no
    /// message of Widevine in them.
    private final class RecordedService: Sendable {
        static let request = bytes(1, 700), reply = bytes(2, 1_500)
        let asked = Locked<[(body: Data, headers: HTTPHeaders)]>([])
        let refuses = Locked(false)
        let server: HTTPServer

        init() {
            let (asked, refuses) = (asked, refuses)
            server = HTTPServer { request in
                asked.withLock { $0.append((request.body, request.headers)) }
                let isRefused = refuses.withLock { $0 } || request.body != Self.request
                return HTTPResponse(
                    status: isRefused ? 403 : 200, headers: [.contentType: "application/octet-stream"],
                    body: .bytes(isRefused ? Data("recorded refusal".utf8) : Self.reply))
            }
        }

        private static func bytes(_ seed: UInt64, _ count: Int) -> Data {
            var generator = SeededGenerator(seed: seed)
            return Data([0, 13, 10, 0xff]) + (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
    }

    private static func proxy(
        _ stage: TestServer, service port: UInt16, _ options: String...
    ) async throws -> PythonService {
        let key = try stage.root.write(stage.folder.packagerKey.revealedText, to: "slots-key.txt")
        return try await PythonService(
            [
                PythonRun.file("Examples/Proxy/license-proxy.py"), "--port", "0", "--drm", "widevine", "--key", key,
                "--slots", "\(stage.server.addresses.players.url)/t/demo/slots", "--service",
                "http://127.0.0.1:\(port)/",
            ] + options)
    }

    private static func ask(
        _ proxy: PythonService, _ stage: TestServer, _ headers: [String: String] = [:]
    ) async throws -> Int {
        try await stage.send(
            "\(proxy.url)/license?asset=movie&session=tv", method: "POST", body: RecordedService.request,
            bearer: stage.token(), headers: headers
        ).status
    }

    @Test(
        .enabled(if: PythonRun.isThere, "Python is not there"),
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "no HTTP\r\n\r\n", "",
        ]) func `a service whose reply is cut off or invalid costs no slot`(_ reply: String) async throws
    {
        let stage = try await Self.stage(limit: 1, "services")
        let service = try LoopbackServer { _, _ in .send(reply) }
        let proxy = try await Self.proxy(stage, service: service.port)
        #expect(try await Self.ask(proxy, stage) == 502)
        #expect(try await stage.server.shared.accounts.account("anna", of: "demo").slots == [])
    }

    @Test(.enabled(if: PythonRun.isThere, "Python is not there"))
    func `the proxy takes the viewer's address only from the balancer's configured header`() async throws {
        let place = #""place":{"addresses":["203.0.113.0/24"]},"#
        let stage = try await Self.stage(limit: 5, "services", rules: place)
        let service = RecordedService()
        let port = try service.server.start()
        let told = try await Self.proxy(stage, service: port, "--viewer-address", "X-Viewer")
        let untold = try await Self.proxy(stage, service: port)
        let address = "203.0.113.7"
        #expect(try await Self.ask(told, stage, ["X-Viewer": address]) == 200)
        for headers in [
            [:], ["X-Viewer": "198.51.100.1"], ["X-Viewer": "\(address), 198.51.100.1"],
            ["X-Forwarded-For": address, "X-Real-IP": address, "Forwarded": "for=\(address)"],
        ] { #expect(try await Self.ask(told, stage, headers) == 403, "\(headers)") }
        #expect(try await Self.ask(untold, stage, ["X-Viewer": address, "X-Forwarded-For": address]) == 403)
        // Whoever asks could write that one.
        await #expect(throws: (any Error).self) {
            try await Self.proxy(stage, service: port, "--viewer-address", "X-Forwarded-For")
        }
    }

    @Test(.enabled(if: PythonRun.isThere, "Python is not there"))
    func `the example's proxy counts a household's Widevine and FairPlay streams together`() async throws {
        let stage = try await Self.stage(limit: 2, "services")
        let service = RecordedService()
        let port = try service.server.start()
        let proxy = try await Self.proxy(stage, service: port)
        func widevine(_ session: String, _ query: String = "asset=movie", token: String? = nil) async throws
            -> HTTPReply
        {
            try await stage.send(
                "\(proxy.url)/license?\(query)&session=\(session)", method: "POST", body: RecordedService.request,
                bearer: token ?? stage.token(), headers: ["Content-Type": "application/octet-stream"])
        }
        func account() async throws -> [String] {
            try await stage.server.shared.accounts.account("anna", of: "demo").slots.map(\.drm.label).sorted()
        }
        let (fairPlay, exchange) = try await stage.license()
        #expect(fairPlay.status == 200)
        _ = try exchange.open(fairPlay.body)

        // A service that refuses costs no slot.
        service.refuses.withLock { $0 = true }
        let refused = try await widevine("tv")
        #expect(refused.status == 403 && refused.text == "recorded refusal")
        #expect(try await account() == ["fairplay"])
        service.refuses.withLock { $0 = false }

        let played = try await widevine("tv")
        #expect(played.status == 200 && played.body == RecordedService.reply)
        #expect(try await account() == ["fairplay", "widevine"])
        let heartbeat = try #require(played.header("X-Latchkey-Heartbeat-Token"))
        #expect(played.header("X-Latchkey-Heartbeat") == "30")
        for one in service.asked.withLock({ $0 }) {
            #expect(one.body == RecordedService.request, "It is forwarded as it is.")
            #expect(one.headers[.authorization] == nil && one.headers["X-API-Key"] == nil)
        }

        // The limit is shared, whichever side reaches it, and the service is not asked.
        let before = service.asked.withLock { $0.count }
        let third = try await widevine("tablet")
        // A device that starts again replaces its own session, so this is another one.
        let other = try stage.token("anna", ["latchkey": ["device": "iPad"]])
        let fourth = try await stage.player("fairplay", "POST", body: stage.exchange().spc.revealed, bearer: other)
        for reply in [third, fourth] {
            #expect(reply.status == 403)
            #expect(JSONValue(reply.body)?["error"]?["code"]?.text == "sessionLimit")
        }
        #expect(try await widevine("tablet", token: "no.token.atall").status == 401)
        #expect(try await widevine("tablet", "kid=\(UUID())").status == 404)
        #expect(service.asked.withLock { $0.count } == before)

        // A renewal that the service refuses takes nothing from the playing stream.
        service.refuses.withLock { $0 = true }
        #expect(try await widevine("tv").status == 403)
        #expect(try await account() == ["fairplay", "widevine"])
        service.refuses.withLock { $0 = false }

        // The player sends its own heartbeats, and ends its session.
        #expect(try await stage.player("slots/heartbeat", "POST", bearer: heartbeat).status == 200)
        #expect(try await stage.player("slots", "DELETE", bearer: heartbeat).status == 204)
        #expect(try await widevine("tablet").status == 200)

        // Without an answer of the service there is no slot, and without one of the slots no license.
        await service.server.stop(within: .zero)
        let unanswered = try await stage.send(
            "\(proxy.url)/license?asset=movie&session=x", method: "POST", body: Data([1]),
            bearer: stage.token("ben"))
        #expect(unanswered.status == 502)
        #expect(try await stage.server.shared.accounts.account("ben", of: "demo").slots == [])
        await stage.stop()
        let none = try await stage.send(
            "\(proxy.url)/license?asset=movie", method: "POST", body: Data([1]), bearer: stage.token())
        #expect(none.status == 503)
    }
}
