import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A caller that gives up is answered immediately and once, and does not cancel another caller's exchange.
@Suite(.timeLimit(.minutes(5))) struct TransportCancellationTests {
    @Test(arguments: TransportUnderTest.all)
    func `cancelling ends the exchange and closes the connection`(_ transport: TransportUnderTest) async throws {
        let isAsked = Gate()
        let server = try LoopbackServer { _, _ in
            isAsked.open()
            return .hang
        }
        let task = Task { try await transport.send(URLRequest(url: server.url())) }
        await isAsked.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await server.clientGone()
    }

    @Test(arguments: TransportUnderTest.all)
    func `a task that is already cancelled sends nothing`(_ transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _, _ in LoopbackServer.reply("200 OK") }
        let isCancelled = Gate()
        let task = Task {
            await isCancelled.wait()
            return try await transport.send(URLRequest(url: server.url()))
        }
        task.cancel()
        isCancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.isEmpty)
    }

    // FoundationNetworking on Linux ends the process if a task is cancelled at the wrong moment.
    @Test(arguments: TransportUnderTest.all, ["302 Found", "200 OK"])
    func `requests cancelled during the reply end with the reply or as cancelled`(
        _ transport: TransportUnderTest, status: String
    ) async throws {
        for round in 0..<4 {
            let asked = (0..<12).map { _ in Gate() }
            let server = try LoopbackServer { request, _ in
                if let number = Int(request.dropFirst(5).prefix { $0 != " " }), asked.indices.contains(number) {
                    asked[number].open()
                }
                return LoopbackServer.reply(status, ["Location: /next"])
            }
            let ends = await withTaskGroup { group in
                for (number, gate) in asked.enumerated() {
                    group.addTask {
                        let task = Task { try await transport.send(URLRequest(url: server.url("/\(number)"))) }
                        await gate.wait()
                        for _ in 0..<(number + round) { await Task.yield() }
                        task.cancel()
                        return End(await task.result)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(
                ends.count == 12 && ends.allSatisfy { $0 == .replied(Int(status.prefix(3)) ?? 0) || $0 == .cancelled })
            #expect(server.requests.count == 12)
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func `a request cancelled at random ends with its own reply or as cancelled; others are unaffected`(
        _ transport: TransportUnderTest
    ) async throws {
        let server = try LoopbackServer { request, _ in
            LoopbackServer.reply("200 OK", body: String(request.dropFirst(5).prefix { $0 != " " }))
        }
        let ends = await withTaskGroup { group in
            for turns in 0..<40 {
                group.addTask {
                    let task = Task { try await transport.send(URLRequest(url: server.url("/\(turns)"))) }
                    for _ in 0..<turns { await Task.yield() }
                    if !turns.isMultiple(of: 4) { task.cancel() }
                    let result = await task.result
                    if let body = try? result.get().body { #expect(body == Data("\(turns)".utf8)) }
                    return (turns, End(result))
                }
            }
            return await group.reduce(into: [Int: End]()) { $0[$1.0] = $1.1 }
        }
        #expect(ends.count == 40 && ends.values.allSatisfy { $0 == .replied(200) || $0 == .cancelled })
        #expect(ends.filter { $0.key.isMultiple(of: 4) }.values.allSatisfy { $0 == .replied(200) })
        #expect(try await transport.send(URLRequest(url: server.url("/last"))).body == Data("last".utf8))
    }

    private enum End: Equatable {
        case replied(Int), cancelled, failed(String)

        init(_ result: Result<HTTPReply, any Error>) {
            switch result {
            case .success(let reply): self = .replied(reply.status)
            case .failure(is CancellationError): self = .cancelled
            case .failure(let error): self = .failed("\(error)")
            }
        }
    }
}
