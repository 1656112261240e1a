import Foundation
import LatchkeyHTTP
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// The description of the admin API: it has each address, and describes the server's answers correctly.
@Suite(.timeLimit(.minutes(5))) struct AdminDescriptionTests {
    @Test(.enabled(if: PythonRun.hasValidator, "\(PythonRun.noValidator)"))
    func `each address matches its description: requests, audit entries and refusals`() async throws {
        try await AdminAuditTests.run { test in
            _ = try await test.license(1, token: "nonsense", requestID: "request-bad")
            var answers: [DescribedAnswer] = []
            for request in AdminAuditTests.requests(reads: true) {
                let parts = request.name.split(separator: " ").map(String.init)
                func note(_ reply: HTTPReply) {
                    answers.append(
                        DescribedAnswer(method: parts[0], path: parts[1], status: reply.status, body: reply.text))
                }
                note(try await request.send(to: test, key: nil))
                if !request.action.events("").isEmpty {
                    note(try await request.send(to: test, key: TestServer.key(.security), dryRun: true))
                }
                let reply = try await request.send(to: test, key: TestServer.key(.security))
                #expect(reply.status == 200, "\(request.name)")
                note(reply)
            }
            let refused = try await test.admin("requests/request-bad")
            answers.append(
                DescribedAnswer(
                    method: "GET", path: "/admin/v1/requests/{request}", status: refused.status, body: refused.text))
            let problems = try await DescribedAnswer.problems(AdminDescription.document, answers)
            #expect(problems == [], "\(problems.joined(separator: "\n"))")
        }
    }

    @Test(.enabled(if: PythonRun.hasValidator, "\(PythonRun.noValidator)"))
    func `an unexpected member, kind or status is detected, and so is a bad description`()
        async throws
    {
        func answer(_ body: String, _ status: Int = 200, _ path: String = "reload") -> DescribedAnswer {
            DescribedAnswer(method: "POST", path: "/admin/v1/\(path)", status: status, body: body)
        }
        let good = #"{"restart":["threads"]}"#
        let problems = try await DescribedAnswer.problems(
            AdminDescription.document,
            [
                answer(good), answer(#"{"restart":[],"more":1}"#), answer("{}"), answer(#"{"restart":[1]}"#),
                answer("<a/>"), answer(good, 302), answer("{}", 200, "nothing"), answer(#"{"code":"a"}"#, 401),
                answer(#"{"rewrapped":-1}"#, 200, "rewrap"),
            ])
        let found = [
            "'more': 1} is not valid", "200: : {} is not valid", "[1]} is not valid", "no JSON",
            "status is not described",
            "nothing 200: not described", "'reason' is a required", "-1} is not valid",
        ]
        for words in found { #expect(problems.contains { $0.contains(words) }, "\(words): \(problems)") }
        #expect(
            try await !DescribedAnswer.problems(.object(["openapi": .text("3.1.0"), "paths": .object([:])]), []).isEmpty
        )
    }

    @Test func `a dry run shows its audit entry and changes nothing`() async throws {
        try await AdminAuditTests.run { test in
            let before = try await AdminAuditTests.count(test)
            let keys = test.server.shared.engines.keys
            let rows = try await keys.page(of: "demo", search: "", after: nil, limit: 100)
            for request in AdminAuditTests.requests() {
                // It notes each look, and by whom.
                guard let event = request.action.events("admin:security-1").first, !request.name.hasSuffix("/sign-in")
                else { continue }
                let reply = try await request.send(to: test, key: TestServer.key(.security), dryRun: true)
                #expect(reply.status == 200, "\(request.name): \(reply.text)")
                let entry = reply.json["entry"]
                #expect(entry?["actor"]?.text == event.actor, "\(request.name)")
                #expect(entry?["action"]?.text == event.action.rawValue, "\(request.name)")
                #expect(entry?["object"]?.text == event.object, "\(request.name)")
                guard case .object(let details)? = entry?["details"] else { continue }
                #expect(Set(details.keys) == Set(event.details.keys), "\(request.name)")
            }
            #expect(try await AdminAuditTests.count(test) == before)
            #expect(try await keys.page(of: "demo", search: "", after: nil, limit: 100) == rows)
        }
    }

    @Test func `the tool prints the server's API`() async throws {
        let run = await ToolRun("api")
        #expect(run.status == .yes)
        #expect(JSONValue(Data(run.output.utf8)) == AdminDescription.document)
        let test = try await TestServer()
        let reply = try await test.admin("openapi.json", key: TestServer.key(.viewer))
        #expect(reply.json == AdminDescription.document)
    }

    /// A client reads these names: another one breaks it. The file is written again by hand.
    @Test func `members of answers and entries keep their public names`() throws {
        func lines(_ value: JSONValue, _ place: String) -> [String] {
            switch value {
            case .object(let members):
                members.flatMap { name, inner -> [String] in
                    guard name == "properties", case .object(let properties) = inner else {
                        return lines(inner, ["schemas", "paths"].contains(name) ? "" : "\(place) \(name)")
                    }
                    let names = properties.keys.sorted().joined(separator: " ")
                    return ["\(place.trimmingPrefix(" ")): \(names)"]
                        + properties.flatMap { lines($0.value, "\(place) \($0.key)") }
                }
            case .array(let values): values.enumerated().flatMap { lines($0.element, "\(place) \($0.offset)") }
            default: []
            }
        }
        let found = lines(AdminDescription.document, "").sorted().joined(separator: "\n")
        let golden = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Golden/admin-members.txt")
        #expect(try found + "\n" == String(contentsOf: golden, encoding: .utf8), "\(found)")
    }

    @Test func `each address is used in the console`() throws {
        let scripts = [
            "accounts.js", "changes.js", "console.js", "keys.js", "overview.js", "pages.js", "places.js", "policies.js",
            "reports.js",
        ].map {
            String(decoding: ConsoleFile.response($0).bytes ?? Data(), as: UTF8.self)
        }.joined()
        // Words that scripts make of others.
        let made = ["disable": "word)", "enable": "word)"]
        for route in AdminAPI.routes {
            let word = route.path.text.split(separator: "/").map(String.init).last { !$0.hasPrefix("{") } ?? ""
            let isThere = [
                "\"\(word)\"", "\"\(word)?", "`\(word)?", "`\(word)/", "/\(word)\"", "/\(word)?", "/\(word)`",
                "\"\(word)/",
            ]
            .contains { scripts.contains($0) }
            #expect(isThere || made[word].map { scripts.contains($0) } == true, "\(route.path.text)")
        }
    }
}
