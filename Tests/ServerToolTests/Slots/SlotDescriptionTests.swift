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
    private static let file = PythonRun.file("Sources/LatchkeyLicensing/APIs/slots.openapi.json")

    private static func described() throws -> DescribedAPI {
        DescribedAPI(try #require(JSONValue(try Data(contentsOf: URL(filePath: file)))))
    }

    @Test func `the description has the routes, and no other`() throws {
        let routes = PlayerAPI.routes.map { ($0.methods, $0.path.text) }.flatMap { methods, path in
            methods.filter { $0 != .head }.map {
                DescribedAPI.Operation(method: $0.rawValue, path: path.replacing("/t/{tenant}", with: ""))
            }
        }
        #expect(try Self.described().operations == Set(routes.filter { $0.path.hasPrefix("/slots") }))
    }

    @Test func `its words are those of the server`() throws {
        let schemas = try Self.described().document["components"]?["schemas"]
        #expect(schemas?["TrackClass"]?["enum"]?.texts == TrackClass.allCases.map(\.rawValue))
        let request = schemas?["SlotRequest"]?["properties"]
        #expect(
            request?["capabilities"]?["items"]?["enum"]?.texts == Policy.Ability.allCases.map(\.rawValue))
        guard case .object(let members)? = request else { return #expect(Bool(false)) }
        #expect(Set(members.keys) == SlotRequest.members)
    }

    @Test(.enabled(if: PythonRun.hasValidator, "\(PythonRun.noValidator)"))
    func `a validator of OpenAPI takes the description, and no damaged one`() async throws {
        let program = """
            import copy, json, sys
            from openapi_spec_validator import OpenAPIV31SpecValidator
            document = json.load(open(sys.argv[1]))
            def problems(document): return [str(one.message) for one in OpenAPIV31SpecValidator(document).iter_errors()]
            changes = [lambda one: one['paths']['/slots']['post']['responses']['200'].pop('description'),
                       lambda one: one['info'].pop('version'), lambda one: one.update(openapi='3.1'),
                       lambda one: one['components']['schemas'].pop('Slot'),
                       lambda one: one['paths']['/slots']['delete'].update(operationId='takeSlot')]
            for change in changes:
                wrong = copy.deepcopy(document)
                change(wrong)
                try:
                    if not problems(wrong): sys.stdout.write('takes what is damaged ')
                except Exception: pass
            sys.stdout.write('; '.join(problems(document)) or 'right')
            """
        #expect(try await PythonRun.output("-c", program, Self.file) == "right")
    }

    @Test func `each status and member that a server sends is described, and each described one is sent`() async throws
    {
        let api = try Self.described()
        let samples = Locked<[JSONValue]>([])
        try await answers(api, samples)
        try await limits(api, samples)
        #expect(api.unseen == [], "Described, and not sent.")
    }

    @Test(.enabled(if: PythonRun.hasValidator, "\(PythonRun.noValidator)"))
    func `a validator of JSON schemas takes what a server sends, and takes of what it is sent what the server takes`()
        async throws
    {
        let (api, samples) = (try Self.described(), Locked<[JSONValue]>([]))
        try await answers(api, samples)
        try await limits(api, samples)
        let folder = try TemporaryFolder()
        let all = JSONValue.object(["description": api.document, "samples": .array(samples.withLock { $0 })])
        let program = """
            import json, sys
            from jsonschema import Draft202012Validator, FormatChecker
            all = json.load(open(sys.argv[1]))
            schemas = all['description']['components']
            wrong = []
            for name, value, fits in all['samples']:
                schema = {'$ref': '#/components/schemas/' + name, 'components': schemas}
                found = [one.message for one in Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(value)]
                if bool(found) == fits: wrong.append(f'{name} {value} {found}')
            sys.stdout.write('; '.join(wrong) or f'{len(all["samples"])} right')
            """
        let file = try folder.write(all.canonicalText, to: "samples.json")
        let count = samples.withLock { $0.count }
        #expect(count > 20)
        #expect(try await PythonRun.output("-c", program, file) == "\(count) right")
    }

    /// A reply of a server, which has to be as it is described.
    private static func check(
        _ api: DescribedAPI, _ samples: Locked<[JSONValue]>, _ operation: DescribedAPI.Operation, _ reply: Reply,
        _ status: Int, from location: SourceLocation
    ) {
        #expect(reply.status == status, "\(operation): \(reply.text)", sourceLocation: location)
        let body = reply.text.isEmpty ? nil : reply.json
        #expect(api.problems(operation, reply.status, body) == [], sourceLocation: location)
        guard let body, operation.path != "/slots/openapi.json" || reply.status != 200 else { return }
        let name = reply.status != 200 ? "Error" : operation.path == "/slots" ? "Slot" : "Heartbeat"
        samples.withLock { $0.append(.array([.text(name), body, .flag(true)])) }
    }

    private func answers(_ api: DescribedAPI, _ samples: Locked<[JSONValue]>) async throws {
        let stage = try await OutageStage { text in
            text = text.replacing(#""clearKey": true,"#, with: #""clearKey": true, "slots": "players","#)
        }
        func policy(_ members: String) async throws {
            let file = stage.server.demo.url.appending(path: "policies/demo.json")
            try Data(#"{"version":1,"name":"demo",\#(members)}"#.utf8).write(to: file)
            try #require(try await stage.server.admin("reload", "POST").status == 200)
        }
        let label = try DemoFolder.token(
            in: stage.server.demo.url, for: "anna", at: Date(), claims: ["latchkey": .object(["label": .text("TV")])])
        func ask(
            _ method: String, _ path: String, _ status: Int, _ body: String? = nil, token: String? = nil,
            tenant: String = "demo", fits: Bool = true, from location: SourceLocation = #_sourceLocation
        ) async throws -> JSONValue {
            var headers = ["Content-Type": "application/json"]
            headers["Authorization"] = token.map { "Bearer \($0)" }
            let url = "\(stage.server.server.addresses.players.url)/t/\(tenant)\(path)"
            let reply = try await ServerUnderTest.ask(url, method, body, headers)
            Self.check(api, samples, .init(method: method, path: path), reply, status, from: location)
            if let body, path == "/slots", let value = JSONValue(Data(body.utf8)) {
                samples.withLock { $0.append(.array([.text("SlotRequest"), value, .flag(fits)])) }
            }
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
        _ = try await ask("POST", "/slots", 400, #"{"drm":"widevine"}"#, token: token, fits: false)
        _ = try await ask("POST", "/slots", 400, #"{"asset":"x"}"#, token: token, fits: false)
        _ = try await ask(
            "POST", "/slots", 400, #"{"drm":"playready","asset":"x","track":"8K"}"#, token: token, fits: false)
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
            for method in methods {
                Self.check(api, samples, .init(method: method, path: path), reply, 405, from: #_sourceLocation)
            }
        }
        #expect(try await ask("GET", "/slots/openapi.json", 200) == api.document)
        _ = try await ask("GET", "/slots/openapi.json", 403, tenant: "nobody")
        // No client sends a body with GET.
        let call = APICall(
            HTTPRequest(method: .get, target: "/t/demo/slots/openapi.json", body: Data(large.utf8)), requestID: "r",
            viewer: LicenseRequestFacts())
        let answer = await stage.server.server.current.players.answer(call)
        let reply = Reply(
            status: answer.response.status, text: String(decoding: answer.response.bytes ?? Data(), as: UTF8.self))
        Self.check(api, samples, .init(method: "GET", path: "/slots/openapi.json"), reply, 413, from: #_sourceLocation)
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
    private func limits(_ api: DescribedAPI, _ samples: Locked<[JSONValue]>) async throws {
        let stage = try await ServerStage(
            { $0 = $0.replacing(#""drainDelay""#, with: #""limits": {"perTenant": 1}, "drainDelay""#) },
            time: ManualTimekeeper(date: Date()))
        let url = "\(stage.server.addresses.players.url)/t/demo"
        for _ in 0..<5 { _ = try await ServerUnderTest.ask("\(url)/certificate", "GET", nil, [:]) }
        for operation in api.operations {
            let reply = try await ServerUnderTest.ask(url + operation.path, operation.method, nil, [:])
            Self.check(api, samples, operation, reply, 429, from: #_sourceLocation)
        }
        await stage.stop()
    }
}
