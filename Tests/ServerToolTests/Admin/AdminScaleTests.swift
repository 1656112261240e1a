import Foundation
import LatchkeyFairPlay
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// The pages that the console shows, over more than it could show.
@Suite(.timeLimit(.minutes(5))) struct AdminScaleTests {
    /// The most rows of a page, whatever is asked for.
    private static let most = 200
    private static let keys = 20_000
    private static let accounts = 2_000

    @Test func `20,000 keys and 2,000 sessions are paged, and the server finds one in the middle`() async throws {
        let test = try await TestServer()
        try await Self.fill(test)
        let all = "limit=1000000"
        for (path, list) in [("tenants/demo/keys", "keys"), ("tenants/demo/accounts", "accounts")] {
            let page = try await test.admin(path)
            #expect(page.list(list).count == 50)
            let most = try await test.admin("\(path)?\(all)")
            #expect(most.list(list).count == Self.most)
            #expect(most.text.utf8.count < 200_000)
            let next = try #require(most.json["next"]?.text)
            let second = try await test.admin("\(path)?\(all)&after=\(try Self.escaped(next))")
            #expect(second.list(list).count == Self.most)
            #expect(Set(second.list(list)).isDisjoint(with: most.list(list)))
        }
        #expect(try await test.admin("tenants/demo/keys").json["count"]?.number == Double(Self.keys + 1))
        let film = try await test.admin("tenants/demo/keys?search=film-02500")
        #expect(film.texts("keys", "content") == [String](repeating: "film-02500", count: 4))
        let kid = try #require(film.texts("keys", "kid").first)
        let found = try await test.admin("tenants/demo/keys?search=\(kid)")
        #expect(found.texts("keys", "kid") == [kid])
        #expect(try await test.admin("tenants/demo/keys?search=film-9").list("keys").isEmpty)
        let viewers = try await test.admin("tenants/demo/accounts?prefix=viewer-01000")
        #expect(viewers.texts("accounts", "name") == ["viewer-01000"])
        let overview = try await test.admin("overview")
        #expect(overview.json["sessions"]?["demo"]?.number == Double(Self.accounts + 1))
        #expect(overview.text.utf8.count < 20_000)
    }

    @Test func `hundreds of refusals, decisions and audit entries are paged`() async throws {
        let test = try await TestServer()
        try await test.importKeys([1])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<8 {
                group.addTask {
                    for number in stride(from: client, to: Self.most + 5, by: 8) {
                        _ = try await test.license(1, token: "nonsense", requestID: "refused-\(number)")
                        _ = try await test.license(
                            1, token: test.token("viewer-\(number)"), requestID: "decided-\(number)")
                        _ = try await test.admin("sign-in", "POST", body: "")
                    }
                }
            }
            try await group.waitForAll()
        }
        for (path, list) in [("refusals", "refusals"), ("decisions", "decisions"), ("audit", "entries")] {
            let page = try await test.admin(path)
            #expect(page.list(list).count == 50, "\(path): \(page.text.prefix(300))")
            let most = try await test.admin("\(path)?limit=1000000")
            #expect(most.list(list).count == Self.most, "\(path)")
            #expect(most.text.utf8.count < 200_000, "\(path)")
        }
        for id in ["refused-17", "decided-17"] {
            let why = try await test.admin("requests/\(id)")
            #expect(why.status == 200 && why.text.contains(id))
        }
    }

    /// Copies the rows of one imported key and of one account, as `Scripts/measure-console` does.
    private static func fill(_ test: TestServer) async throws {
        try await test.importKeys([1])
        _ = try await test.license(1, token: try test.token(), requestID: "request-1")
        let engines = test.server.shared.engines
        let kid = try #require(KeyID(TestServer.kid(1)))
        let row = try #require(try await engines.keys.rows([kid], of: "demo").first)
        for start in stride(from: 0, to: keys, by: 1_000) {
            let rows = try (start..<start + 1_000).map { number in
                var copy = row
                copy.kid = try #require(KeyID(TestServer.kid(1_000_000 + number)))
                copy.content = try #require(ContentName("film-\(padded(number / 4))"))
                copy.sealed = SealedKey(
                    tenant: "demo", subject: .contentKey(copy.kid), dataKey: row.sealed.dataKey,
                    nonce: row.sealed.nonce, sealed: row.sealed.sealed)
                return copy
            }
            _ = try await engines.keys.add(rows)
        }
        let page = try await engines.sessions.page(of: .account, "demo", prefix: "", after: nil, limit: 1)
        let account = try #require(page.first)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<accounts {
                let key = RecordKey(.account, tenant: "demo", name: "viewer-\(padded(number))")
                group.addTask {
                    let isNew = try await engines.sessions.write(
                        account.record, at: key, replacing: nil, until: account.end, counting: [account.end])
                    #expect(isNew)
                }
            }
            try await group.waitForAll()
        }
    }

    private static func padded(_ number: Int) -> String { String(String(100_000 + number).dropFirst()) }

    private static func escaped(_ text: String) throws -> String {
        try #require(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    }
}
