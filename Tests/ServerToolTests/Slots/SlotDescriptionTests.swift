import Foundation
import LatchkeyHTTP
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// The description of the API for slots, and a running server's answers.
@Suite(.timeLimit(.minutes(5))) struct SlotDescriptionTests {
    @Test(.enabled(if: PythonRun.hasValidator, "\(PythonRun.noValidator)"))
    func `each status, member and request of the server is described, and each described one occurs`()
        async throws
    {
        let answers = Locked<[DescribedAnswer]>([])
        try await self.answers(answers)
        try await limits(answers)
        let problems = try await DescribedAnswer.problems(
            SlotDescription.document, answers.withLock { $0 }, isWhole: true)
        #expect(problems == [], "\(problems.joined(separator: "\n"))")
    }

    private func answers(_ answers: Locked<[DescribedAnswer]>) async throws {
        let stage = try await TestServer.switched(["tenants.demo.slots": "players"])
        func policy(_ members: String) async throws {
            try stage.folder.write(#"{"version":1,"name":"demo",\#(members)}"#, to: "policies/demo.json")
            try #require(try await stage.admin("reload", "POST").status == 200)
        }
        func note(_ method: String, _ path: String, _ reply: HTTPReply, request: String = "") {
            answers.withLock {
                $0.append(
                    .init(method: method, path: path, status: reply.status, body: reply.text, request: request))
            }
        }
        let token = try stage.token("anna", ["latchkey": ["label": "TV"]])
        func ask(
            _ method: String, _ path: String, _ status: Int, _ body: String? = nil, token: String? = nil,
            tenant: String = "demo", from location: SourceLocation = #_sourceLocation
        ) async throws -> JSONValue {
            let reply = try await stage.player(
                String(path.dropFirst()), method, body: body.map { Data($0.utf8) }, bearer: token,
                headers: ["Content-Type": "application/json"], at: tenant)
            #expect(reply.status == status, "\(method) \(path): \(reply.text)", sourceLocation: location)
            note(method, path, reply, request: body ?? "")
            return reply.json
        }
        func take(
            _ session: String, _ status: Int, _ more: String = "", from location: SourceLocation = #_sourceLocation
        ) async throws -> JSONValue {
            let body = #"{"drm":"widevine","kid":"\#(TestServer.kid(1))","session":"\#(session)"\#(more)}"#
            return try await ask("POST", "/slots", status, body, token: token, from: location)
        }
        try await policy(
            #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1,"heartbeat":"30s"},"#
                + #""output":{"hdcp":{"ALL":"type1"}},"limits":{"licensesPerMinute":1000}"#)
        let able = #","capabilities":["hdcpEnforcement"]"#
        let first = try await take("one", 200, able + #","device":"tv-1""#)
        #expect(try await take("one", 200, able)["state"]?.text == "renewed")
        let limited = try await take("two", 403, able + #","stop":["nobody"]"#)
        #expect(limited["error"]?["sessions"] != nil)
        let heartbeat = try #require(first["heartbeatToken"]?.text)
        _ = try await ask("POST", "/slots/heartbeat", 200, token: heartbeat)
        _ = try await ask("DELETE", "/slots", 204, token: heartbeat)
        _ = try await ask("POST", "/slots/heartbeat", 410, token: heartbeat)
        _ = try await ask("POST", "/slots", 400, #"{"drm":"widevine"}"#, token: token)
        _ = try await ask("POST", "/slots", 400, #"{"asset":"x"}"#, token: token)
        _ = try await ask(
            "POST", "/slots", 400, #"{"drm":"playready","asset":"x","track":"8K"}"#, token: token)
        _ = try await ask("POST", "/slots", 401, #"{"drm":"other","asset":"film"}"#)
        _ = try await ask("POST", "/slots", 404, #"{"drm":"widevine","kid":"\#(TestServer.kid(9))"}"#, token: token)
        let large = String(repeating: " ", count: 70_000)
        for (method, path) in [("POST", "/slots"), ("DELETE", "/slots"), ("POST", "/slots/heartbeat")] {
            let body = method == "POST" && path == "/slots" ? #"{"drm":"other","asset":"film"}"# : nil
            _ = try await ask(method, path, 401, body, token: "no.token.atall")
            _ = try await ask(method, path, 403, token: token, tenant: "nobody")
            _ = try await ask(method, path, 413, large, token: token)
        }
        for (path, methods) in [
            ("/slots", ["POST", "DELETE"]), ("/slots/heartbeat", ["POST"]), ("/slots/openapi.json", ["GET"]),
        ] {
            let reply = try await stage.player(String(path.dropFirst()), "PUT")
            for method in methods { note(method, path, reply) }
        }
        #expect(try await ask("GET", "/slots/openapi.json", 200) == SlotDescription.document)
        _ = try await ask("GET", "/slots/openapi.json", 403, tenant: "nobody")
        // No client sends a body with GET.
        let call = APICall(
            HTTPRequest(method: .get, target: "/t/demo/slots/openapi.json", body: Data(large.utf8)), requestID: "r",
            viewer: LicenseRequestFacts())
        let answer = await stage.server.current.players.answer(call)
        note(
            "GET", "/slots/openapi.json",
            HTTPReply(status: answer.response.status, body: answer.response.bytes ?? Data()))
        stage.database.sessions.setDown(true)
        #expect(try await take("three", 200, able)["state"]?.text == "uncounted")
        try await policy(
            #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1,"heartbeat":"30s"},"#
                + #""outage":{"sessionStore":"refuse"}"#)
        _ = try await take("three", 503)
        _ = try await ask("POST", "/slots/heartbeat", 503, token: heartbeat)
        _ = try await ask("DELETE", "/slots", 503, token: heartbeat)
    }

    /// The listener's answers to clients that ask too often.
    private func limits(_ answers: Locked<[DescribedAnswer]>) async throws {
        let stage = try await TestServer(["limits.perTenant": 1], time: ManualTimekeeper(date: Date()))
        for _ in 0..<5 { _ = try await stage.player("certificate") }
        for route in PlayerAPI.routes where route.path.text.hasPrefix("/t/{tenant}/slots") {
            for method in route.methods where method != .head {
                let path = route.path.text.replacing("/t/{tenant}", with: "")
                let reply = try await stage.player(String(path.dropFirst()), method.rawValue)
                answers.withLock {
                    $0.append(.init(method: method.rawValue, path: path, status: reply.status, body: reply.text))
                }
            }
        }
    }
}
