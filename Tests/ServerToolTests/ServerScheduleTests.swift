import Foundation
import LatchkeyStores
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeySystem
@testable import LatchkeyVault
@testable import TestServers

/// A running server's scheduled work: how often it probes its engines, and how it catches up.
@Suite(.timeLimit(.minutes(2))) struct ServerScheduleTests {
    /// A server over a database that can be taken down, on a clock that the test moves.
    private struct Stage {
        let time = ManualTimekeeper(date: Date())
        let test: TestServer
        var server: LicenseServer { test.server }
        var database: SwitchedDatabase { test.database }

        init(unlisted: Bool = false) async throws {
            test = try await TestServer.switched(derives: unlisted, time: time)
        }

        /// Runs one of the server's loops during a test.
        func during(_ loop: @escaping @Sendable (LicenseServer) async -> Void, _ body: () async throws -> Void)
            async throws
        {
            let task = Task { [server] in await loop(server) }
            defer { task.cancel() }
            try await body()
            task.cancel()
            await task.value
        }

        /// Lets a number of seconds pass one by one, each after the loop has returned to its wait.
        func pass(_ seconds: Int) async {
            for _ in 0..<seconds {
                await time.untilSomeoneSleeps(for: .seconds(1))
                time.advance(by: .seconds(1))
            }
            await time.untilSomeoneSleeps(for: .seconds(1))
        }
    }

    @Test func `an engine that is down is asked every second, a working one every five`() async throws {
        let stage = try await Stage()
        try await stage.during({ await $0.watchEngines() }) {
            await stage.pass(1)
            let first = stage.database.questions.withLock { $0 }
            await stage.pass(10)
            #expect(stage.database.questions.withLock { $0 } - first == 2)
            stage.database.setDown(true)
            await stage.pass(5)
            #expect(stage.server.shared.engines.keys.isAway)
            let away = stage.database.questions.withLock { $0 }
            await stage.pass(4)
            #expect(stage.database.questions.withLock { $0 } - away == 4)
            stage.database.setDown(false)
            await stage.pass(1)
            #expect(!stage.server.shared.engines.keys.isAway)
        }
    }

    @Test func `a key disabled without a notice is refused after half a minute`() async throws {
        let stage = try await Stage()
        let kid = try TestServer.keyID(1)
        try await stage.during({ await $0.followKeys() }) {
            #expect(try await license(stage) == 200)
            // Another node does it, and its notice is lost.
            #expect(try await stage.database.inner.setDisabled(true, kid, of: "demo"))
            await stage.time.untilSomeoneSleeps(for: .seconds(30))
            stage.time.advance(by: .seconds(29))
            #expect(try await license(stage) == 200)
            stage.time.advance(by: .seconds(1))
            while try await license(stage) == 200 { try Task.checkCancellation() }
            #expect(try await license(stage) == 403)
        }
    }

    @Test func `the node's copy is read at the start and every ten minutes`() async throws {
        let stage = try await Stage()
        let vault = try #require(stage.server.current.tenants["demo"]?.vault)
        let (kid, copy) = (try TestServer.keyID(1), try #require(stage.server.shared.engines.keys.copy))
        _ = try await vault.key(kid)
        /// The copy keeps changes on a separate thread.
        func untilCopied(isDisabled: Bool) async throws {
            while try await copy.rows([kid], of: "demo").map(\.isDisabled) != [isDisabled] {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        try await untilCopied(isDisabled: false)
        try await stage.during({ await $0.followKeys() }) {
            await stage.time.untilSomeoneSleeps(for: .seconds(600))
            _ = try await stage.database.inner.setDisabled(true, kid, of: "demo")
            stage.time.advance(by: .seconds(600))
            try await untilCopied(isDisabled: true)
        }
    }

    @Test func `resealing stops after 45 seconds and reports its progress and the remaining rows`() async throws {
        let stage = try await Stage()
        try #require(try await stage.test.admin("tenants/demo/data-key", "POST", body: "").status == 200)
        let held = stage.database.holdRows()
        async let answer = stage.test.admin("tenants/demo/reseal", "POST", body: "")
        // A shorter limit would stop the work before it reaches the rows, and the second call would be held.
        try await held.value
        await stage.time.untilSomeoneSleeps(for: .seconds(45))
        stage.time.advance(by: .seconds(45))
        let (first, second) = (try await answer, try await stage.test.admin("tenants/demo/reseal", "POST", body: ""))
        #expect(first.status == 200 && first.json["done"] == .flag(false))
        #expect(second.json["done"] == .flag(true))
        // The seed and three keys.
        let resealed = [first, second].reduce(0) { $0 + ($1.json["resealed"]?.number ?? 0) }
        #expect(resealed == 4)
    }

    @Test func `a derived key whose row the store rejected is stored five seconds later`() async throws {
        let stage = try await Stage(unlisted: true)
        let kid = try TestServer.keyID(7)
        try await stage.during({ await $0.writePendingKeys() }) {
            await stage.time.untilSomeoneSleeps(for: .seconds(5))
            stage.database.failAdditions(true)
            let (vault, content) = (stage.server.current.tenants["demo"]?.vault, try #require(ContentName("film")))
            _ = try await vault?.keys(for: [KeyDemand(KeyAddress(content: content, kid: kid))])
            #expect(try await stage.database.inner.rows([kid], of: "demo").isEmpty)
            stage.database.failAdditions(false)
            await stage.server.shared.engines.keys.probe()
            stage.time.advance(by: .seconds(5))
            await stage.time.untilSomeoneSleeps(for: .seconds(5))
            #expect(try await stage.database.inner.rows([kid], of: "demo").count == 1)
        }
    }

    private func license(_ stage: Stage, _ number: Int = 1) async throws -> Int {
        try await stage.test.license(number).status
    }
}
