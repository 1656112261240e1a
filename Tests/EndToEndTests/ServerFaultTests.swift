import Foundation
import LatchkeyVendors
import Testing

@testable import LatchkeyServerTool
@testable import TestServers

/// Faults of files and disks against a real `latchkey-server`: no signal ends it but the test's, nothing hangs, and licenses continue.
@Suite(
    .enabled(if: FaultyServer.program != nil, Comment(rawValue: ToolProcess.whyNot)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash"), "needs bash"), .timeLimit(.minutes(5)))
struct ServerFaultTests {
    @Test func `standard error is all JSON and lists each listener's address`() async throws {
        let server = try await FaultyServer(ServerFolder())
        #expect(try await server.license(for: "ann") == 200)
        #expect(await server.end(by: SIGTERM) == 0)
        let entries = server.entries
        // The notice of test credentials, three listeners, the start, a license, the end.
        #expect(entries.count >= 6, "\(server.text)")
        for (entry, line) in zip(entries, server.lines) {
            #expect(entry["event"] != nil && entry["level"] != nil && entry["ts"] != nil, "\(line)")
        }
        let listeners = entries.compactMap { $0["listener"] as? String }
        #expect(listeners == ["players", "packagers", "operators"])
        #expect(entries.prefix(4).allSatisfy { $0["event"] as? String == "life" })
    }

    @Test(arguments: ["server.json", "jwks.json", "policies/demo.json"])
    func `a pipe instead of a file fails the reload, and delays neither licenses nor the end`(
        name: String
    ) async throws {
        let server = try await FaultyServer(ServerFolder())
        let file = server.folder.file(name)
        let text = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        try #require(mkfifo(file.path, 0o600) == 0)
        let reload = try await server.admin("reload")
        #expect(reload.status == 422, "\(reload.status)")
        #expect(String(decoding: reload.body, as: UTF8.self).contains("not a regular file"))
        server.send(SIGHUP)
        try await server.untilLogged("not a regular file", times: 2)
        var answered = 0
        for number in 0..<5 where try await server.license(for: "viewer-\(number)") == 200 { answered += 1 }
        #expect(answered == 5)
        for path in ["/livez", "/readyz"] { #expect(try await server.ask("operators", path).status == 200) }
        // The file is back: the next reload is right.
        try FileManager.default.removeItem(at: file)
        try text.write(to: file)
        #expect(try await server.admin("reload").status == 200)
        // And again a pipe: the end does not wait for it.
        try FileManager.default.removeItem(at: file)
        try #require(mkfifo(file.path, 0o600) == 0)
        server.send(SIGHUP)
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `a hang-up during the server's start is harmless`() async throws {
        // As soon as the process handles the signal, long before it serves.
        let takes = "grep -q latchkey-server /proc/$$/comm && grep -q 'SigCgt.*[13579bdf]$' /proc/$$/status"
        let server = try await FaultyServer(ServerFolder(), limit: "{ (until \(takes); do :; done; kill -HUP $$) & }")
        #expect(try await server.license(for: "ann") == 200)
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `while the disk is full, imports are refused, licenses continue, and accepted data stays`()
        async throws
    {
        // Sessions in memory, so that the disk's limit applies to keys and audit.
        let folder = try ServerFolder(["stores.sessions": "memory"])
        // A file size limit simulates the full disk: no right to mount one is needed.
        let server = try await FaultyServer(folder, limit: "ulimit -f 400")
        var (taken, refused): ([String], [HTTPReply]) = ([], [])
        for number in 0..<2_000 where refused.count < 3 {
            let reply = try await server.importKey(UUID(), content: "film-\(number)")
            if reply.status == 200 { taken.append("film-\(number)") } else { refused.append(reply) }
        }
        #expect(!taken.isEmpty)
        try #require(refused.count == 3, "\(taken.count) were taken")
        #expect(refused.allSatisfy { $0.status == 503 }, "\(refused.map(\.status))")
        var answered = 0
        for number in 0..<20 where try await server.license(for: "viewer-\(number)") == 200 { answered += 1 }
        #expect(answered == 20)
        #expect(server.isRunning)
        #expect(await server.end(by: SIGTERM) == 0)
        // With room again, no acknowledged data is missing.
        let next = try await FaultyServer(folder)
        var found = 0
        for content in taken.suffix(50) where try await next.holdsKey(of: content) { found += 1 }
        #expect(found == min(50, taken.count))
        let verdict = try await next.admin("audit/verify")
        #expect(String(decoding: verdict.body, as: UTF8.self).contains(#""intact":true"#))
        #expect(await next.end(by: SIGTERM) == 0)
    }

    @Test func `a server killed while writing restarts with all acknowledged data and a whole audit`() async throws {
        let folder = try ServerFolder()
        var taken: [String] = []
        for round in 0..<3 {
            let server = try await FaultyServer(folder)
            let acknowledged = Locked<[String]>([])
            let enough = Gate()
            await withTaskGroup { group in
                for writer in 0..<4 {
                    group.addTask {
                        for number in 0..<10_000 {
                            let content = "film-\(round)-\(writer)-\(number)"
                            guard let reply = try? await server.importKey(UUID(), content: content) else { return }
                            guard reply.status == 200 else {
                                Issue.record("An import is answered \(reply.status).")
                                return
                            }
                            let count = acknowledged.withLock { all in
                                all.append(content)
                                return all.count
                            }
                            if count == 12 + round * 5 { enough.open() }
                        }
                    }
                }
                group.addTask {
                    await enough.wait()
                    _ = await server.end(by: SIGKILL)
                }
            }
            #expect(!server.isRunning)
            taken += acknowledged.withLock { $0 }
            let verified = try await ToolProcess.run(
                program: FaultyServer.program, ["audit", "verify", "--config", folder.configuration])
            #expect(verified.status == 0, "\(verified.output) \(verified.error)")
        }
        #expect(taken.count >= 36)
        let server = try await FaultyServer(folder)
        var found = 0
        for content in taken where try await server.holdsKey(of: content) { found += 1 }
        #expect(found == taken.count)
        #expect(try await server.license(for: "ann") == 200)
        #expect(await server.end(by: SIGTERM) == 0)
    }
}
