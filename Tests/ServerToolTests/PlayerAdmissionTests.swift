import Foundation
import LatchkeyDevice
import LatchkeyHTTP
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// Requests that the requestLimit refuses, and requests that pass it.
@Suite(.timeLimit(.minutes(2))) struct PlayerAdmissionTests {
    @Test func `beyond the limit starts are refused with Retry-After; renewals and heartbeats are not`() async throws {
        let stage = try await TestServer()
        let requestLimit = stage.server.shared.requestLimit
        // Ann plays already.
        let token = try stage.token("ann")
        #expect(try await Self.status(of: stage, token) == 200)
        while requestLimit.begin(.start, tenant: "demo") {}
        let (refused, _) = try await stage.license(for: "bob", headers: ["X-Request-Id": "request-of-bob"])
        #expect(refused.status == 503)
        #expect((1...5).contains(refused.header("retry-after").flatMap { Int($0) } ?? 0))
        #expect(refused.header("x-request-id") == "request-of-bob")
        let shed = #"tenant="demo",endpoint="fairplay",drm="fairplay",outcome="shed",reason="overloaded""#
        #expect(try await stage.metric("latchkey_license_requests_total{\(shed)}") == 1)
        #expect(try await Self.status(of: stage, token) == 200)
        let heartbeat = try await stage.player("sessions/heartbeat", "POST", bearer: "none")
        #expect(heartbeat.status == 401)
    }

    /// How a license request with a token ends.
    private static func status(of stage: TestServer, _ token: String) async throws -> Int {
        try await stage.player("fairplay", "POST", body: stage.exchange().spc.revealed, bearer: token).status
    }

    @Test func `a request returns its place in the limit, whatever its outcome`() async throws {
        let stage = try await TestServer()
        #expect(try await stage.license().0.status == 200)
        #expect(try await stage.player("fairplay", "POST", bearer: "wrong").status == 401)
        #expect(try await stage.player("fairplay/nowhere", "POST").status == 404)
        #expect(try await stage.player("fairplay", "POST", at: "nobody").status == 403)
        let unknown = #"tenant="",endpoint="fairplay",drm="fairplay",outcome="refused",reason="unknownTenant""#
        #expect(try await stage.metric("latchkey_license_requests_total{\(unknown)}") == 1)
        #expect(stage.server.shared.requestLimit.running == 0)
    }

    @Test func `a refusal by the queue behind the limit lowers the limit`() async throws {
        let stage = try await TestServer(["threads": 1])
        let (shared, gate) = (stage.server.shared, DispatchSemaphore(value: 0))
        let listener = PlayerListener(shared: shared) { [server = stage.server] in server.current }
        // One piece keeps the thread, and then as many wait as may, all of the tenant: another one would make room.
        let isKept = Promise<Void, any Error>()
        var pieces = [
            Task {
                _ = await shared.pool.run(.start, session: "held", tenant: "demo") {
                    isKept.resolve(.success(()))
                    gate.wait()
                }
            }
        ]
        defer { for _ in pieces { gate.signal() } }
        try await isKept.value
        while shared.pool.admission.waiting < shared.pool.admission.limit {
            pieces.append(Task { _ = await shared.pool.run(.start, session: "held", tenant: "demo") { gate.wait() } })
            while shared.pool.admission.waiting + shared.pool.admission.busyThreads < pieces.count {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        let limit = shared.requestLimit.limit
        let request = HTTPRequest(
            method: .post, target: "/t/demo/fairplay", headers: [.authorization: "Bearer \(try stage.token())"],
            body: try stage.exchange().spc.revealed)
        guard case .task(let answer) = listener.begin(request) else {
            Issue.record("The limit refused it.")
            return
        }
        #expect(await answer().status == 503)
        #expect(shared.requestLimit.limit < limit)
        #expect(shared.requestLimit.running == 0)
        for _ in pieces { gate.signal() }
        for piece in pieces { await piece.value }
    }

    @Test func `packagers beyond the queue's limit are refused with Retry-After, and players are not`() async throws {
        let stage = try await TestServer()
        while stage.server.shared.packagers.begin(of: "demo") {}
        let refused = try await stage.packager("speke", "POST")
        #expect(refused.status == 503)
        #expect(refused.header("retry-after") != nil)
        #expect(try await stage.license().0.status == 200)
        stage.server.shared.packagers.end(of: "demo")
        #expect(try await stage.packager("speke", "POST").status != 503)
    }
}
