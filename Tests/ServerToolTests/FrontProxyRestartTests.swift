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
                return HTTPServer(configuration) { .text(String(decoding: $0.body, as: UTF8.self)) }
            }

            /// Drains, stops and starts, with some time before each.
            func restart(_ wait: () async throws -> Void) async throws {
                let former = server.withLock { $0 }
                former.drain()
                try await wait()
                await former.stop(within: .seconds(60))
                try await wait()
                let next = Self.server(port)
                try next.start()
                server.withLock { $0 = next }
                try await wait()
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
            let (statuses, isOver) = (Locked<[Int: Int]>([:]), Locked(false))
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        while !isOver.withLock({ $0 }), !Task.isCancelled {
                            let status = await Self.status(front.url)
                            statuses.withLock { $0[status, default: 0] += 1 }
                        }
                    }
                }
                @Sendable func count() -> Int { statuses.withLock { $0.values.reduce(0, +) } }
                for number in 0..<6 {
                    try await nodes[number % 2].restart {
                        let enough = count() + 60
                        while count() < enough {
                            try Task.checkCancellation()
                            await Task.yield()
                        }
                    }
                }
                isOver.withLock { $0 = true }
                try await group.waitForAll()
            }
            #expect(statuses.withLock { Set($0.keys) } == [200], "\(statuses.withLock { $0 })")
        }
    }
#endif
