import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyTesting
import SwitchedStores
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyOperation
@testable import LatchkeyPolicy
@testable import LatchkeyServer
@testable import LatchkeyServerTool

/// What the description of the API for slots says, and what a running server sends.
@Suite(.timeLimit(.minutes(5))) struct SlotDescriptionTests {
    @Test(.enabled(if: PythonRun.hasValidator, "\(PythonRun.noValidator)"))
    func `each status and member that a server sends is described, each described one is sent, and so is each request`()
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
        let stage = try await OutageStage { text in
            text = text.replacing(#""clearKey": true,"#, with: #""clearKey": true, "slots": "players","#)
        }
        func policy(_ members: String) async throws {
            let file = stage.server.demo.url.appending(path: "policies/demo.json")
            try Data(#"{"version":1,"name":"demo",\#(members)}"#.utf8).write(to: file)
            try #require(try await stage.server.admin("reload", "POST").status == 200)
        }
        func note(_ method: String, _ path: String, _ reply: Reply, request: String = "") {
            answers.withLock {
                $0.append(
                    .init(method: method, path: path, status: reply.status, body: reply.text, request: request))
            }
        }
        let label = try DemoFolder.token(
            in: stage.server.demo.url, for: "anna", at: Date(), claims: ["latchkey": .object(["label": .text("TV")])])
        func ask(
            _ method: String, _ path: String, _ status: Int, _ body: String? = nil, token: String? = nil,
            tenant: String = "demo", from location: SourceLocation = #_sourceLocation
        ) async throws -> JSONValue {
            var headers = ["Content-Type": "application/json"]
            headers["Authorization"] = token.map { "Bearer \($0)" }
            let url = "\(stage.server.server.addresses.players.url)/t/\(tenant)\(path)"
            let reply = try await ServerUnderTest.ask(url, method, body, headers)
            #expect(reply.status == status, "\(method) \(path): \(reply.text)", sourceLocation: location)
            note(method, path, reply, request: body ?? "")
            return reply.json
        }
        let token = label.revealedText
        func take(
            _ session: String, _ status: Int, _ more: String = "", from location: SourceLocation = #_sourceLocation
        ) async throws -> JSONValue {
            let body = #"{"drm":"widevine","kid":"\#(ServerUnderTest.kid(1))","session":"\#(session)"\#(more)}"#
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
        _ = try await ask(
            "POST", "/slots", 404, #"{"drm":"widevine","kid":"\#(ServerUnderTest.kid(9))"}"#, token: token)
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
            let reply = try await ServerUnderTest.ask(
                "\(stage.server.server.addresses.players.url)/t/demo\(path)", "PUT", nil, [:])
            for method in methods { note(method, path, reply) }
        }
        #expect(try await ask("GET", "/slots/openapi.json", 200) == SlotDescription.document)
        _ = try await ask("GET", "/slots/openapi.json", 403, tenant: "nobody")
        // No client sends a body with GET.
        let call = APICall(
            HTTPRequest(method: .get, target: "/t/demo/slots/openapi.json", body: Data(large.utf8)), requestID: "r",
            viewer: LicenseRequestFacts())
        let answer = await stage.server.server.current.players.answer(call)
        let reply = Reply(
            status: answer.response.status, text: String(decoding: answer.response.bytes ?? Data(), as: UTF8.self))
        note("GET", "/slots/openapi.json", reply)
        stage.database.sessions.setDown(true)
        #expect(try await take("three", 200, able)["state"]?.text == "uncounted")
        try await policy(
            #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1,"heartbeat":"30s"},"#
                + #""outage":{"sessionStore":"refuse"}"#)
        _ = try await take("three", 503)
        _ = try await ask("POST", "/slots/heartbeat", 503, token: heartbeat)
        _ = try await ask("DELETE", "/slots", 503, token: heartbeat)
        await stage.end()
    }

    /// What the listener sends to those who ask too often.
    private func limits(_ answers: Locked<[DescribedAnswer]>) async throws {
        let stage = try await ServerStage(
            { $0 = $0.replacing(#""drainDelay""#, with: #""limits": {"perTenant": 1}, "drainDelay""#) },
            time: ManualTimekeeper(date: Date()))
        let url = "\(stage.server.addresses.players.url)/t/demo"
        for _ in 0..<5 { _ = try await ServerUnderTest.ask("\(url)/certificate", "GET", nil, [:]) }
        for route in PlayerAPI.routes where route.path.text.hasPrefix("/t/{tenant}/slots") {
            for method in route.methods where method != .head {
                let path = route.path.text.replacing("/t/{tenant}", with: "")
                let reply = try await ServerUnderTest.ask(url + path, method.rawValue, nil, [:])
                answers.withLock {
                    $0.append(.init(method: method.rawValue, path: path, status: reply.status, body: reply.text))
                }
            }
        }
        await stage.stop()
    }
}
