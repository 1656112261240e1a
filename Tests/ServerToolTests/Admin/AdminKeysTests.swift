import Foundation
import LatchkeyFairPlay
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyPackaging
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

@Suite(.timeLimit(.minutes(5))) struct AdminKeysTests {
    @Test func `keys come in by CPIX, are paged and searched, and never show their bytes`() async throws {
        let test = try await TestServer()
        let films = try await test.admin("tenants/demo/cpix?policy=demo", "POST", body: TestServer.document(1...5))
        #expect(films.json["imported"]?.number == 5)
        try await test.importKeys(6...7, of: "news")
        var kids: [String] = []
        var (after, count) = ("", 0)
        repeat {
            let page = try await test.admin("tenants/demo/keys?limit=3&after=\(after)")
            if after.isEmpty { #expect(page.json["count"]?.number == 7) }
            kids += page.list("keys").compactMap { $0["kid"]?.text }
            after = page.json["next"]?.text ?? ""
            count += 1
            #expect(!page.text.contains(TestServer.plainKey))
        } while !after.isEmpty
        #expect(kids == (1...7).map(TestServer.kid))
        #expect(count == 3)
        let found = try await test.admin("tenants/demo/keys?search=new")
        #expect(found.list("keys").count == 2)
        let one = try await test.admin("tenants/demo/keys/\(TestServer.kid(1))")
        #expect(one.json["policies"]?.texts == ["demo", "demo"])
        #expect(one.json["policy"]?["concurrency"]?["limit"]?.number == 3)
        #expect(!one.text.contains(TestServer.plainKey))
    }

    @Test func `a disabled key gives no license until it is enabled, and both are audited`() async throws {
        let test = try await TestServer()
        try await test.importKeys([1])
        let path = "tenants/demo/keys/\(TestServer.kid(1))"
        let (key, token) = (TestServer.key(.operator), try test.token())
        let first = try await test.license(1, token: token, requestID: "request-1")
        _ = try await test.admin(path + "/disable", "POST", body: "", key: key)
        let second = try await test.license(1, token: token, requestID: "request-2")
        _ = try await test.admin(path + "/enable", "POST", body: "", key: key)
        let third = try await test.license(1, token: token, requestID: "request-3")
        let statuses: [Int] = [first, second, third].map { $0.status }
        #expect(statuses == [200, 403, 200])
        let audit = Array(try await test.audit().suffix(2))
        let object = "demo/\(TestServer.kid(1)) by admin:operator-1"
        #expect(audit == ["keyDisabled \(object)", "keyEnabled \(object)"])
        let unknown = try await test.admin("tenants/demo/keys/\(TestServer.kid(2))/disable", "POST", body: "")
        #expect(unknown.status == 404)
    }

    @Test func `packagers import and export a content's keys, and a different key for a kid conflicts`() async throws {
        let test = try await TestServer()
        let imported = try await test.packager("cpix", "POST", body: TestServer.document(1...2))
        #expect(imported.json["imported"]?.number == 2)
        let exported = try await test.packager("cpix?content=film&version=2.4")
        #expect(exported.status == 200)
        let document = try CPIXDocument(Data(exported.text.utf8))
        let kids: [String] = document.keys.map { "\($0.kid)" }
        #expect(kids == [TestServer.kid(1), TestServer.kid(2)])
        #expect(exported.text.contains(TestServer.plainKey))
        let other = TestServer.document([2]).replacing("AQEB", with: "AgIC")
        let conflict = try await test.packager("cpix", "POST", body: other)
        #expect(conflict.status == 409)
        #expect(conflict.json["conflicts"]?.texts == [TestServer.kid(2)])
        let missing = try await test.packager("cpix?content=nothing")
        #expect(missing.status == 404)
        let audit = try await test.audit()
        #expect(audit == ["keyImported demo by caller:demo", "keyExported demo by caller:demo"])
        let recipient = try await test.packager("cpix?content=film", headers: ["X-Recipient-Certificate": "AAAA"])
        #expect(recipient.status == 422)
        #expect(!recipient.text.contains(TestServer.plainKey))
    }

    @Test func `data keys rotate, rows are resealed, and licenses continue`() async throws {
        let test = try await TestServer()
        try await test.importKeys(1...3)
        let renewed = try await test.admin("tenants/demo/data-key", "POST", body: "")
        #expect(renewed.json["version"]?.number == 2)
        let resealed = try await test.admin("tenants/demo/reseal", "POST", body: "")
        #expect(resealed.json["done"] == .flag(true))
        #expect(resealed.json["resealed"]?.number == 4)
        let rewrapped = try await test.admin("rewrap", "POST", body: "")
        #expect(rewrapped.json["rewrapped"]?.number == 0)
        let seed = try await test.admin("tenants/demo/seed", "POST", body: "")
        #expect(seed.json["version"]?.number == 2)
        let license = try await test.license(2, token: try test.token(), requestID: "request-1")
        #expect(license.status == 200)
        let actions: [String] = try await test.audit().suffix(4).map { String($0.prefix { $0 != " " }) }
        #expect(actions == ["dataKeyRenewed", "keysResealed", "keysRewrapped", "seedRenewed"])
    }

    @Test func `a new key encryption key rewraps data keys without a restart`() async throws {
        let test = try await TestServer()
        try test.folder.write(secret: String(repeating: "ab", count: 32), to: "kek-2.hex")
        try test.folder.edit([
            "keyEncryptionKey": ["id": "second", "file": "kek-2.hex"],
            "formerKeyEncryptionKey": ["id": "demo", "file": "kek.hex"],
        ])
        let reloaded = try await test.admin("reload", "POST", body: "")
        #expect(reloaded.status == 200)
        let rewrapped = try await test.admin("rewrap", "POST", body: "")
        #expect(rewrapped.json["rewrapped"]?.number == 1, "The reload leaves the store alone.")
        let rows = try await test.server.shared.engines.keys.dataKeys()
        #expect(rows.map(\.wrapper) == ["second"])
    }
}
