import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyFiles
import LatchkeyHTTP
import LatchkeyTesting
import LatchkeyVendors
import TLSPeer
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault

/// Reloads that come at once, and what they do not bring into force.
@Suite(.timeLimit(.minutes(2)))
struct ReloadTests {
    @Test func `who asks while work goes on gets the result of one more run after it`() async throws {
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

    @Test func `a failure is its own run's, and who is cancelled ends no run`() async throws {
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

    @Test func `an end waits for the work that goes on and for the work that was asked for, and begins no more`()
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
        // Who asks before the end shares the second run, which has no result yet.
        while work.begin({ 2 }).outcome == nil { await Task.yield() }
        gate.open()
        #expect(await end.value == (true, true))
        #expect(try await (first.value, second.value) == (1, 2))
        await #expect(throws: CancellationError.self) { try await work.run { 3 } }
        await work.end()
    }

    @Test func `a stop waits for the reload that goes on, and nothing is reloaded after it`() async throws {
        let (stage, gate) = (try await ServerStage(), Gate())
        let reload = stage.server.reloads.begin { [engines = stage.server.shared.engines] in
            await gate.wait()
            return try await engines.audit.entries(from: 1, limit: 1).map(\.text)
        }
        await gate.untilSomeoneArrives()
        let stop = Task { await stage.stop() }
        let operators = stage.server.addresses.operators.url
        while (try? await stage.send("\(operators)/livez")) != nil { try Task.checkCancellation() }
        // Time to close the stores, if it took it.
        for _ in 0..<1_000 { await Task.yield() }
        gate.open()
        _ = try await reload.value
        await stop.value
        await #expect(throws: CancellationError.self) { try await stage.server.reload() }
    }

    @Test func `of two reloads at once the files of the later one are in force, however slow the first one is`()
        async throws
    {
        let requestLimit = HeldFile("policies")
        let stage = try await ServerStage(threads: FileThreads(limit: .seconds(100), opening: requestLimit.opening))
        let configuration = stage.folder.configuration
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        func changed(_ delay: String) -> Data { Data(text.replacing(#""0s""#, with: #""\#(delay)""#).utf8) }
        try changed("1s").write(to: URL(filePath: configuration))
        requestLimit.holdsNext()
        let first = Task { [server = stage.server] in try await server.reload() }
        await requestLimit.untilHeld()
        try changed("2s").write(to: URL(filePath: configuration))
        let second = Task { [server = stage.server] in try await server.reload() }
        // Time for the second one, if it took it.
        for _ in 0..<50 { _ = try await stage.send("\(stage.server.addresses.operators.url)/livez") }
        #expect(stage.server.current.settings.drainDelay == .zero)
        requestLimit.letGo()
        _ = (try await first.value, try await second.value)
        #expect(stage.server.current.settings.drainDelay == .seconds(2))
        let entries = try await stage.server.shared.engines.audit.entries(from: 1, limit: 10)
        #expect(entries.count { $0.text.contains("configurationLoaded") } == 2)
        await stage.stop()
    }

    @Test func `a reload names what waits for a restart, in its answer, in the log and to operators`() async throws {
        let stage = try await ServerStage()
        let configuration = stage.folder.configuration
        let former = try String(contentsOfFile: configuration, encoding: .utf8)
        let identity = try SelfSigned()
        try Data(identity.certificate.utf8).write(to: stage.folder.url.appending(path: "tls.pem"))
        try PrivateFile.write(Secret(identity.privateKey), to: stage.folder.url.appending(path: "tls-key.pem"))
        let place = #"{"address": "127.0.0.1", "port": 0}"#
        try ServerStage.edit(configuration) { text in
            let new = [
                "players": #"{"address": "127.0.0.1", "port": 9}"#,
                "packagers": #"{"port": 0, "certificate": "tls.pem", "privateKey": "tls-key.pem"}"#,
                "operators": #"{"address": "::1", "port": 0}"#,
            ]
            for (name, listener) in new {
                text = text.replacing(#""\#(name)": \#(place)"#, with: #""\#(name)": \#(listener)"#)
            }
            text = text.replacing(#""sessionMilliseconds": 10000"#, with: #""sessionMilliseconds": 70"#)
            text = text.replacing(#""drainDelay": "0s""#, with: #""drainDelay": "1s", "threads": 3"#)
        }
        let operators = stage.server.addresses.operators.url
        func reload() async throws -> [String]? {
            let reply = try await stage.send(
                "\(operators)/admin/v1/reload", method: "POST", bearer: stage.admin)
            #expect(reply.status == 200)
            return JSONValue(reply.body)?["restart"]?.texts
        }
        let members = [
            "players.port", "packagers.certificate", "packagers.privateKey", "operators.address",
            "stores.sessionMilliseconds", "threads", "drainDelay",
        ]
        // As long as it waits, also if nothing changed since the reload before.
        for _ in 0..<2 { #expect(try await reload() == members) }
        let notice = "Waiting for a restart: \(members.joined(separator: ", "))."
        let overview = try await stage.send("\(operators)/admin/v1/overview", bearer: stage.admin)
        #expect(JSONValue(overview.body)?["notices"]?.texts?.contains(notice) == true, "\(overview.text)")
        #expect(try await stage.send("\(stage.server.addresses.packagers.url)/t/demo/none").status == 404)
        try Data(former.utf8).write(to: URL(filePath: configuration))
        #expect(try await reload() == [])
        await stage.stop()
        let log = String(decoding: stage.log.withLock { $0 }, as: UTF8.self)
        let lines = log.split(separator: "\n").filter { $0.contains(notice) }
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains(#""level":"warning""#) }, "\(log)")
    }

    @Test func `whether there are proxies decides at once how many connections an address may have`() async throws {
        let stage = try await ServerStage()
        let places = { stage.server.listeners.map(\.connectionsPerAddress) }
        #expect(places() == [1_024, 1_024, 1_024])
        try ServerStage.edit(stage.folder.configuration) { text in
            text = text.replacing(
                #""drainDelay": "0s""#, with: #""drainDelay": "0s", "trustedProxies": ["10.0.0.0/8"]"#)
        }
        #expect(try await stage.server.reload() == [])
        #expect(places() == [16_384, 16_384, 16_384])
        try ServerStage.edit(stage.folder.configuration) { text in
            text = text.replacing(#", "trustedProxies": ["10.0.0.0/8"]"#, with: "")
        }
        #expect(try await stage.server.reload() == [])
        #expect(places() == [1_024, 1_024, 1_024])
        await stage.stop()
    }

    @Test func `a listener that leaves TLS goes on with its certificate until a restart, and the reload says so`()
        async throws
    {
        let identity = try SelfSigned()
        let stage = try await ServerStage { text in
            text = text.replacing(
                #""players": {"#, with: #""players": {"certificate": "tls.pem", "privateKey": "tls-key.pem", "#)
        } prepare: { folder in
            try Data(identity.certificate.utf8).write(to: folder.appending(path: "tls.pem"))
            try PrivateFile.write(Secret(identity.privateKey), to: folder.appending(path: "tls-key.pem"))
        }
        try ServerStage.edit(stage.folder.configuration) { text in
            text = text.replacing(#""certificate": "tls.pem", "privateKey": "tls-key.pem", "#, with: "")
        }
        #expect(try await stage.server.reload() == ["players.certificate", "players.privateKey"])
        let url = try #require(URL(string: stage.server.addresses.players.url))
        let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
        #expect(try await TLSConnection.open(port).certificate == identity.der)
        await stage.stop()
    }
}
