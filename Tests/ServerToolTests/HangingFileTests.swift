import Foundation
import LatchkeyDevice
import LatchkeySystem
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// Files that are not regular files, or that the system does not deliver: the reload fails with an error, and everything else continues.
@Suite(.timeLimit(.minutes(2)))
struct HangingFileTests {
    /// - Parameter spc: made before the files of the credentials became something else.
    private static func expectLife(_ stage: TestServer, _ spc: Secret) async throws {
        let license = try await stage.player("fairplay", "POST", body: spc.revealed, bearer: stage.token())
        #expect(license.status == 200)
        #expect(try await stage.operators("livez").status == 200)
        #expect(try await stage.operators("readyz").status == 200)
    }

    @Test(arguments: [
        "server.json", "jwks.json", "policies/demo.json", "policies/new.json", "kek.hex", "credentials/certificate.der",
        "credentials/private-key.pem", "credentials/ask.hex", "tls.pem", "tls-key.pem", "callout-token.txt",
        "signing-key.hex", "vudrm-secret.txt",
    ])
    func `a pipe instead of a file is refused by name, and the old configuration stays`(name: String) async throws {
        let stage = try await TestServer()
        let (former, spc) = (stage.server.current, try stage.exchange().spc)
        let path = stage.folder.file(name).path
        try stage.folder.edit([
            "tenants.demo.callout": ["url": "https://example.com/", "token": "callout-token.txt"],
            "tenants.demo.signers": ["acme": ["key": "signing-key.hex", "iv": "00"]],
            "tenants.demo.vendors": ["vudrm": ["client": "acme", "secret": "vudrm-secret.txt"]],
            "players.certificate": "tls.pem", "players.privateKey": "tls-key.pem",
        ])
        if name == "tls-key.pem" { try stage.folder.write("x", to: "tls.pem") }
        try? FileManager.default.removeItem(atPath: path)
        try #require(mkfifo(path, 0o600) == 0)
        let error = await #expect(throws: (any Error).self) { try await stage.server.reload() }
        let reason = (error as? any DiagnosableError)?.reason ?? ""
        // A policy goes by its name.
        let place = name.hasPrefix("policies/") ? String(name.dropFirst(9).dropLast(5)) : name
        #expect(reason.contains(place), "\(reason)")
        #expect(reason.contains("not a regular file"), "\(reason)")
        #expect(stage.server.current === former)
        try await Self.expectLife(stage, spc)
    }

    @Test(arguments: ["server.json", "policies", "certificate.der", "jwks.json", "kek.hex"])
    func `a file that hangs fails the reload in time, and licenses continue`(name: String) async throws {
        let (held, clock) = (HeldFile(name), ManualTimekeeper())
        let stage = try await TestServer(threads: FileThreads(timekeeper: clock, opening: held.opening))
        let (former, spc) = (stage.server.current, try stage.exchange().spc)
        held.holdsNext()
        let reload = Task { [server = stage.server] in try await server.reload() }
        await held.untilHeld()
        try await Self.expectLife(stage, spc)
        await clock.untilSomeoneSleeps()
        clock.advance(by: .seconds(60))
        let error = await #expect(throws: (any Error).self) { try await reload.value }
        let reason = (error as? any DiagnosableError)?.reason ?? ""
        #expect(
            reason.contains(name) && reason.contains("cannot be read: the system returned nothing for"), "\(reason)")
        #expect(stage.server.current === former)
        try await Self.expectLife(stage, spc)
        held.letGo()
        // The thread's late finding is not in force; the next reload's is.
        try await stage.server.reload()
        #expect(stage.server.current !== former)
    }

    @Test func `a stop waits only its own time for a reload that hangs`() async throws {
        let held = HeldFile("policies")
        let stage = try await TestServer(threads: FileThreads(timekeeper: ManualTimekeeper(), opening: held.opening))
        held.holdsNext()
        let reload = Task { [server = stage.server] in try await server.reload() }
        await held.untilHeld()
        await stage.server.stop(within: .milliseconds(1))
        await #expect(throws: (any Error).self) { try await reload.value }
        held.letGo()
    }

    @Test func `the watch starts and continues despite any faulty file`() async throws {
        let (held, clock) = (HeldFile("server.json"), ManualTimekeeper())
        let watching = ManualTimekeeper()
        let stage = try await TestServer(threads: FileThreads(timekeeper: clock, opening: held.opening))
        // The very first look hangs.
        held.holdsNext()
        let watch = Task { [server = stage.server] in await server.watchFiles(watching) }
        await held.untilHeld()
        await clock.untilSomeoneSleeps()
        clock.advance(by: .seconds(60))
        await watching.untilSomeoneSleeps()
        held.letGo()
        // Then the file is not a regular file.
        let configuration = stage.folder.configuration
        let text = try stage.folder.text()
        try FileManager.default.removeItem(atPath: configuration)
        try #require(mkfifo(configuration, 0o600) == 0)
        watching.advance(by: .seconds(1))
        await watching.untilSomeoneSleeps()
        #expect(stage.server.current.settings.drainDelay == .zero)
        // Then it is another one.
        try FileManager.default.removeItem(atPath: configuration)
        try stage.folder.write(text, to: "server.json")
        try stage.folder.edit(["drainDelay": "3s"])
        watching.advance(by: .seconds(1))
        await watching.untilSomeoneSleeps()
        #expect(stage.server.current.settings.drainDelay == .seconds(3))
        // The log has its own thread.
        while await !stage.log.contains("It is a pipe, not a regular file") {
            try Task.checkCancellation()
            await Task.yield()
        }
        watch.cancel()
        await watch.value
    }
}

extension ManualTimekeeper {
    fileprivate func untilSomeoneSleeps() async {
        while sleeperCount == 0, !Task.isCancelled { await Task.yield() }
    }
}
