import Foundation
import LatchkeyFairPlay
import TLSPeer
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// How many clients read events at the same time.
@Suite(.timeLimit(.minutes(1))) struct EventReaderTests {
    @Test func `concurrent readers never exceed the limit`() async throws {
        let test = try await TestServer()
        let address = try #require(URL(string: test.server.addresses.operators.url)?.port)
        let port = try #require(UInt16(exactly: address))
        let request =
            "GET /admin/v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(TestServer.key(.viewer))\r\n\r\n"
        let readers = try (0..<60).map { _ in try LocalSocket(port) }
        for reader in readers { reader.send(Data(request.utf8)) }
        var statuses: [Int?] = []
        for reader in readers { statuses.append(try await reader.readStatus()) }
        #expect(statuses.count { $0 == 200 } == OperatorFeed.mostReaders)
        #expect(statuses.count { $0 == 503 } == 60 - OperatorFeed.mostReaders)
    }

    /// How a reader of events ends.
    enum End: String, CaseIterable {
        case signOut, sessionIsOver, grantTakenOut, otherTenants, keyTakenOut

        func happen(_ browser: SignOnBrowser, _ stage: SignOnStage) async throws {
            switch self {
            case .signOut:
                let headers = ["X-Latchkey-Console": "1"]
                #expect(try await browser.ask("/sign-in/out", "POST", headers: headers).status == 200)
            case .sessionIsOver: stage.time.advance(by: .seconds(600))
            case .grantTakenOut: try await stage.stage.reload(["operators.openID.grants.0.value": "nobody"])
            case .otherTenants: try await stage.stage.reload(["operators.openID.grants.0.tenants": "all"])
            case .keyTakenOut:
                try await stage.stage.reload(["admins.0.key": .text(String(repeating: "0a", count: 32))])
            }
        }
    }

    @Test(arguments: End.allCases) func `a reader who loses access receives no more events`(_ end: End)
        async throws
    {
        let stage = try await SignOnStage(["sessionLife": #""10m""#])
        let browser = stage.browser()
        #expect(try await browser.signIn().status == 303)
        let cookies = browser.jar.map { "\($0)=\($1)" }.joined(separator: "; ")
        let proof =
            end == .keyTakenOut
            ? "Authorization: Bearer \(stage.stage.folder.adminKey.revealedText)"
            : "X-Latchkey-Console: 1\r\nCookie: \(cookies)"
        let address = try #require(URL(string: stage.server.addresses.operators.url)?.port)
        let reader = try LocalSocket(try #require(UInt16(exactly: address)))
        reader.send(Data("GET /admin/v1/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(proof)\r\n\r\n".utf8))
        for _ in 0..<2 {
            #expect(try await reader.read(until: "\n\n").contains("event: overview"))
            await stage.time.untilSomeoneSleeps(for: .seconds(1))
            stage.time.advance(by: .seconds(1))
        }
        #expect(try await reader.read(until: "\n\n").contains("event: overview"))
        await stage.time.untilSomeoneSleeps(for: .seconds(1))
        try await end.happen(browser, stage)
        stage.time.advance(by: .seconds(1))
        #expect(try await reader.read(until: "event:").contains("event:") == false)
    }

    @Test func `unread events release their place`() {
        let feed = OperatorFeed()
        for _ in 0..<(3 * OperatorFeed.mostReaders) { #expect(feed.events { _ in .null } != nil) }
        let held = (0..<OperatorFeed.mostReaders).map { _ in feed.events { _ in .null } }
        #expect(feed.events { _ in .null } == nil)
        withExtendedLifetime(held) {}
    }
}
