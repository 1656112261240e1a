import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

@Suite(.timeLimit(.minutes(1))) struct KeyCountsTests {
    @Test func `keys are counted once a minute, and after an import`() async throws {
        let test = try await TestServer()
        let clock = ManualTimekeeper()
        let counts = KeyCounts(timekeeper: clock)
        let store = test.server.shared.engines.keys
        let first = try await counts.count(of: "demo", in: store)
        try await test.importKeys(1...7)
        #expect(try await counts.count(of: "demo", in: store) == first)
        clock.advance(by: .seconds(60))
        #expect(try await counts.count(of: "demo", in: store) == first + 7)
        _ = try await test.admin("tenants/demo/keys")
        try await test.importKeys(8...9)
        #expect(try await test.admin("tenants/demo/keys").json["count"]?.number == Double(first + 9))
    }
}
