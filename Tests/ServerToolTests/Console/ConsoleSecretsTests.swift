import Foundation
import LatchkeyHTTP
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// Ten thousand secrets, of which operators see none.
@Suite(.timeLimit(.minutes(5))) struct ConsoleSecretsTests {
    /// In each secret, in the forms in which its bytes may be written: as they are, base64, hexadecimal digits.
    private static let mark = "PLANTED.."
    private static let forms = [mark, "UExBTlRFRC4u", "504c414e5445442e2e"]

    @Test func `no page, reply or event contains any of 9,000 keys and 1,000 tokens`() async throws {
        let test = try await TestServer()
        for batch in 0..<90 {
            let reply = try await test.admin("tenants/demo/cpix", "POST", body: Self.document(batch))
            try #require(reply.status == 200)
        }
        var statuses: Set<Int> = []
        for number in 0..<1_000 {
            statuses.insert(
                try await test.license(number, token: "\(Self.mark)\(number)", requestID: "request-\(number)")
                    .status)
        }
        // A good license too, whose token and key are secrets as well.
        let token = try test.token()
        statuses.insert(try await test.license(1, token: token, requestID: "request-good").status)
        #expect(statuses.isSuperset(of: [200, 401]))
        let seen = try await Self.everything(test)
        #expect(seen.contains("request-good") && seen.contains("secret-film-89") && seen.utf8.count > 1_000_000)
        for form in Self.forms + [token, TestServer.key(.security)] {
            #expect(!seen.lowercased().contains(form.lowercased()), "\(form)")
        }
    }

    /// A hundred keys whose bytes begin with the mark.
    private static func document(_ batch: Int) -> String {
        let numbers = (batch * 100)..<((batch + 1) * 100)
        return numbers.reduce(TestServer.document(numbers, of: "secret-film-\(batch)")) { text, number in
            let key = Data("\(mark)\(String(1_000_000 + number))".utf8).base64EncodedString()
            guard let place = text.range(of: TestServer.plainKey) else { return text }
            return text.replacingCharacters(in: place, with: key)
        }
    }

    /// All that an operator may read.
    private static func everything(_ test: TestServer) async throws -> String {
        var seen = ["", "console.js", "figures.js", "overview.js", "pages.js"].map {
            String(decoding: ConsoleFile.response($0).bytes ?? Data(), as: UTF8.self)
        }
        let paths = [
            "overview", "tenants", "policies", "policies/demo", "credentials", "tenants/demo/accounts",
            "tenants/demo/account?name=viewer-1", "tenants/demo/keys/\(TestServer.kid(1))", "requests/request-1",
            "requests/request-good", "tenants/demo/decisions/request-good",
        ]
        for path in paths { seen.append(try await test.admin(path).text) }
        seen += try await pages(test, "tenants/demo/keys", "after")
        seen += try await pages(test, "decisions", "before")
        seen += try await pages(test, "refusals", "before")
        seen += try await audit(test)
        seen.append(try await test.operators("metrics").text)
        seen += try await events(test)
        return seen.joined(separator: "\n")
    }

    private static func pages(_ test: TestServer, _ path: String, _ cursor: String) async throws -> [String] {
        var seen: [String] = []
        var next = ""
        repeat {
            let reply = try await test.admin("\(path)?limit=200&\(next)")
            seen.append(reply.text)
            let value = reply.json["next"].flatMap { $0.text ?? $0.number.map { String(Int($0)) } }
            let last = path == "refusals" ? reply.list("refusals").last?["number"]?.number.map { String(Int($0)) } : nil
            next = (value ?? last).map { "\(cursor)=\($0)" } ?? ""
        } while !next.isEmpty
        return seen
    }

    private static func audit(_ test: TestServer) async throws -> [String] {
        var seen: [String] = []
        var from = 1
        repeat {
            let reply = try await test.admin("audit?limit=200&from=\(from)")
            seen.append(reply.text)
            from = reply.list("entries").isEmpty ? 0 : from + 200
        } while from > 0
        return seen
    }

    /// An overview, and a refusal as it happens.
    private static func events(_ test: TestServer) async throws -> [String] {
        let (shared, state) = (test.server.shared, test.server.current)
        let events = try #require(shared.feed.events { await state.overview(shared, $0) })
        _ = try await test.license(1, token: "\(mark)live", requestID: "request-live")
        var seen: [String] = []
        for await event in events {
            seen.append(String(decoding: event, as: UTF8.self))
            if seen.joined().contains("request-live") { break }
        }
        return seen
    }
}
