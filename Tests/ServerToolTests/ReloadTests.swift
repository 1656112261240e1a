import Foundation
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeySystem
import LatchkeyVendors
import TLSPeer
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// Concurrent reloads, and the settings that they do not bring into force.
@Suite(.timeLimit(.minutes(2)))
struct ReloadTests {
    @Test func `a request during a run gets the result of one more run`() async throws {
        let (work, gate) = (OneAtATime<Int>(), Gate())
        let (began, atOnce) = (Locked(0), Locked((now: 0, most: 0)))
        let run: @Sendable () async throws -> Int = {
            let number = began.withLock { count in
                count += 1
                return count
            }
            atOnce.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            await gate.wait()
            atOnce.withLock { $0.now -= 1 }
            return number
        }
        let first = work.begin(run)
        await gate.untilSomeoneArrives()
        let (second, third) = (work.begin(run), work.begin(run))
        #expect(second === third && first !== second)
        gate.open()
        #expect(try await first.value == 1)
        #expect(try await second.value == 2)
        #expect(atOnce.withLock { $0.most } == 1)
        #expect(try await work.run(run) == 3)
    }

    @Test func `a failure ends its own run, and a cancelled caller ends none`() async throws {
        struct Wrong: Error {}
        let (work, gate) = (OneAtATime<Int>(), Gate())
        let first = Task {
            try await work.run {
                await gate.wait()
                try Task.checkCancellation()
                return 1
            }
        }
        await gate.untilSomeoneArrives()
        let (second, third) = (work.begin { throw Wrong() }, work.begin { 3 })
        first.cancel()
        gate.open()
        #expect(try await first.value == 1)
        await #expect(throws: Wrong.self) { try await second.value }
        await #expect(throws: Wrong.self) { try await third.value }
        #expect(try await work.run { 4 } == 4)
    }

    @Test func `an end waits for current and requested work, and starts no more`()
        async throws
    {
        let (work, gate) = (OneAtATime<Int>(), Gate())
        let first = work.begin {
            await gate.wait()
            return 1
        }
        await gate.untilSomeoneArrives()
        let second = work.begin { 2 }
        let end = Task {
            await work.end()
            return (first.outcome != nil, second.outcome != nil)
        }
        // A caller before the end shares the second run, which has no result yet.
        while work.begin({ 2 }).outcome == nil { await Task.yield() }
        gate.open()
        #expect(await end.value == (true, true))
        #expect(try await (first.value, second.value) == (1, 2))
        await #expect(throws: CancellationError.self) { try await work.run { 3 } }
    }

    @Test func `a stop waits for the current reload, and nothing reloads after it`() async throws {
        let (stage, gate) = (try await TestServer(), Gate())
        let reload = stage.server.reloads.begin { [engines = stage.server.shared.engines] in
            await gate.wait()
            return try await engines.audit.entries(from: 1, limit: 1).map(\.text)
        }
        await gate.untilSomeoneArrives()
        let stop = Task { await stage.stop() }
        while (try? await stage.operators("livez")) != nil { try Task.checkCancellation() }
        // Time to close the stores, if it took it.
        for _ in 0..<1_000 { await Task.yield() }
        gate.open()
        _ = try await reload.value
        await stop.value
        await #expect(throws: CancellationError.self) { try await stage.server.reload() }
    }

    @Test func `of two concurrent reloads the later one's files are in force, however slow the first is`()
        async throws
    {
        let requestLimit = HeldFile("policies")
        let stage = try await TestServer(threads: FileThreads(limit: .seconds(100), opening: requestLimit.opening))
        try stage.folder.edit(["drainDelay": "1s"])
        requestLimit.holdsNext()
        let first = Task { [server = stage.server] in try await server.reload() }
        await requestLimit.untilHeld()
        try stage.folder.edit(["drainDelay": "2s"])
        let second = Task { [server = stage.server] in try await server.reload() }
        // Time for the second one, if it took it.
        for _ in 0..<50 { _ = try await stage.operators("livez") }
        #expect(stage.server.current.settings.drainDelay == .zero)
        requestLimit.letGo()
        _ = (try await first.value, try await second.value)
        #expect(stage.server.current.settings.drainDelay == .seconds(2))
        let entries = try await stage.server.shared.engines.audit.entries(from: 1, limit: 10)
        #expect(entries.count { $0.text.contains("configurationLoaded") } == 2)
    }

    @Test func `a server with in-memory keys rereads its configuration and keeps its keys`() async throws {
        let stage = try await TestServer(["stores.keys": "memory", "stores.audit": "memory", "keyEncryptionKey": nil])
        let (reply, exchange) = try await stage.license(for: "anna")
        let key = try exchange.open(reply.body).contentKey
        try stage.folder.edit(["validity.lease": "9m"], in: "policies/demo.json")
        try await stage.reload(["countryHeader": "X-Country"])
        let (later, next) = try await stage.license(for: "berta")
        #expect(try next.open(later.body).contentKey == key)
        #expect(try await stage.metric("latchkey_config_last_reload_successful") == 1)
    }

    @Test func `a reload names settings that need a restart in its answer, the log and the console`() async throws {
        let stage = try await TestServer()
        let former = try stage.folder.text()
        try SelfSigned().serve("packagers", of: stage.folder)
        try stage.folder.edit([
            "players.port": 9, "operators.address": "::1", "stores.sessionMilliseconds": 70, "drainDelay": "1s",
            "threads": 3,
        ])
        func reload() async throws -> [String]? {
            let reply = try await stage.admin("reload", "POST")
            #expect(reply.status == 200)
            return reply.json["restart"]?.texts
        }
        let members = [
            "players.port", "packagers.certificate", "packagers.privateKey", "operators.address",
            "stores.sessionMilliseconds", "threads", "drainDelay",
        ]
        // As long as it waits, even if nothing has changed since the previous reload.
        for _ in 0..<2 { #expect(try await reload() == members) }
        let notice = "Waiting for a restart: \(members.joined(separator: ", "))."
        let overview = try await stage.admin("overview")
        #expect(overview.json["notices"]?.texts?.contains(notice) == true, "\(overview.text)")
        #expect(try await stage.packager("none").status == 404)
        try stage.folder.write(former, to: "server.json")
        #expect(try await reload() == [])
        await stage.stop()
        let lines = await stage.lines(notice)
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains(#""level":"warning""#) }, "\(lines)")
    }

    @Test func `adding or removing proxies immediately changes an address's connection limit`() async throws {
        let stage = try await TestServer()
        let places = { stage.server.listeners.map(\.connectionsPerAddress) }
        #expect(places() == [1_024, 1_024, 1_024])
        #expect(try await stage.reload(["trustedProxies": ["10.0.0.0/8"]]) == [])
        #expect(places() == [16_384, 16_384, 16_384])
        #expect(try await stage.reload(["trustedProxies": nil]) == [])
        #expect(places() == [1_024, 1_024, 1_024])
    }

    @Test func `a listener that drops TLS keeps its certificate until a restart, and the reload says so`()
        async throws
    {
        let identity = try SelfSigned()
        let stage = try await TestServer(prepare: { try identity.serve("players", of: $0) })
        let waiting = try await stage.reload(["players.certificate": nil, "players.privateKey": nil])
        #expect(waiting == ["players.certificate", "players.privateKey"])
        let url = try #require(URL(string: stage.server.addresses.players.url))
        let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
        #expect(try await TLSConnection.open(port).certificate == identity.der)
    }
}
