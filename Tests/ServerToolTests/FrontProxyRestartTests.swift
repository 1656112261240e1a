#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeyHTTP
    import LatchkeyTransport
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Nodes that are restarted behind real proxies, which keep connections to them and send no POST twice.
    @Suite(.enabled(if: FrontProxy.Kind.areThere, "\(FrontProxy.whyNot)"), .timeLimit(.minutes(5)))
    struct FrontProxyRestartTests {
        /// A server that comes back on its port.
        private final class Node: Sendable {
            let port: UInt16
            private let server: Locked<HTTPServer>

            init() throws {
                let first = Self.server(0)
                port = try first.start()
                server = Locked(first)
            }

            private static func server(_ port: UInt16) -> HTTPServer {
                var configuration = HTTPServerConfiguration()
                (configuration.port, configuration.keepAlive) = (port, .seconds(900))
                configuration.lastRequestDeadline = .seconds(60)
                return HTTPServer(configuration) { .text(String(decoding: $0.body, as: UTF8.self)) }
            }

            /// Drains, stops and starts, with some time before each.
            func restart(among answers: Answers) async throws {
                let former = server.withLock { $0 }
                former.drain()
                try await answers.untilMoreCame()
                await former.stop(within: .seconds(60))
                try await answers.untilMoreCame()
                let next = Self.server(port)
                try next.start()
                server.withLock { $0 = next }
                try await answers.untilMoreCame()
            }
        }

        /// What clients got.
        private final class Answers: Sendable {
            private typealias Wait = (count: Int, isOver: Promise<Void, Never>)
            private let state = Locked<(statuses: [Int: Int], wait: Wait?)>(([:], nil))

            var statuses: [Int: Int] { state.withLock { $0.statuses } }

            func add(_ status: Int) {
                let over = state.withLock { state -> Wait? in
                    state.statuses[status, default: 0] += 1
                    state.wait?.count -= 1
                    return state.wait.flatMap { $0.count == 0 ? $0 : nil }
                }
                over?.isOver.resolve(.success(()))
            }

            /// More than the proxy keeps connections to both servers.
            func untilMoreCame() async throws {
                let isOver = Promise<Void, Never>()
                state.withLock { $0.wait = (60, isOver) }
                try await isOver.value
            }
        }

        private static func status(_ url: String) async -> Int {
            guard let url = URL(string: url) else { return 0 }
            var request = URLRequest(url: url)
            (request.httpMethod, request.httpBody, request.timeoutInterval) = ("POST", Data("a request".utf8), 900)
            let reply = try? await SystemTransport().send(request, bodyLimit: 1 << 20)
            return reply.map { $0.body == Data("a request".utf8) ? $0.status : -$0.status } ?? 0
        }

        @Test(arguments: FrontProxy.Kind.allCases)
        func `two nodes that restart in turn lose no request`(_ kind: FrontProxy.Kind) async throws {
            let nodes = [try Node(), try Node()]
            let front = try await FrontProxy(kind, to: nodes.map(\.port))
            let (answers, isOver) = (Answers(), Locked(false))
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        while !isOver.withLock({ $0 }), !Task.isCancelled { answers.add(await Self.status(front.url)) }
                    }
                }
                for number in 0..<6 { try await nodes[number % 2].restart(among: answers) }
                isOver.withLock { $0 = true }
                try await group.waitForAll()
            }
            #expect(Set(answers.statuses.keys) == [200], "\(answers.statuses)")
        }
    }
#endif
