#if os(Linux)
    import Foundation
    import FoundationNetworking
    import Latchkey
    import LatchkeyCore
    import LatchkeyHTTP

    /// The transport over libcurl compared with that over `URLSession`, which it replaced: the same requests to the same
    /// server in this process.
    struct TransportBench: Sendable {
        /// The cost of one or more exchanges.
        struct Cost: Sendable {
            /// Elapsed time in seconds.
            let time: Double
            /// Processor time in seconds; includes the server's on both sides.
            let processTime: Double
        }

        private let server: HTTPServer
        private let port: UInt16
        private let bodyBytes: Int

        /// - Parameter bodyBytes: the length of the large body.
        init(bodyBytes: Int) throws {
            let (small, large) = (Data(repeating: 0x61, count: 512), Data(repeating: 0x61, count: bodyBytes))
            server = HTTPServer { HTTPResponse(status: 200, body: .bytes($0.path == "/large" ? large : small)) }
            port = try server.start()
            self.bodyBytes = bodyBytes
        }

        func stop() async { await server.stop() }

        /// Small requests with a body as large as an SPC, one after the other over a persistent connection.
        func smallRequests(_ count: Int, over transport: any Transport) async throws -> Cost {
            var request = try request("/license")
            request.httpMethod = "POST"
            request.httpBody = Data(repeating: 0x61, count: 4_096)
            request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            return try await cost {
                for _ in 0..<count { try await send(request, over: transport, expecting: 512) }
            }
        }

        func largeBody(over transport: any Transport) async throws -> Cost {
            let request = try request("/large")
            return try await cost { try await send(request, over: transport, expecting: bodyBytes) }
        }

        private func cost(_ work: () async throws -> Void) async throws -> Cost {
            let start = Stopwatch.processTime
            let time = try await Stopwatch.wallTime(work)
            return Cost(time: time, processTime: Stopwatch.processTime - start)
        }

        private func request(_ path: String) throws -> URLRequest {
            guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
                throw Diagnosis.loadFailed("no address")
            }
            return URLRequest(url: url)
        }

        private func send(_ request: URLRequest, over transport: any Transport, expecting count: Int) async throws {
            let reply = try await transport.send(request, bodyLimit: count)
            guard reply.status == 200, reply.body.count == count else { throw Diagnosis.loadFailed("a reply is wrong") }
        }
    }

    extension Bench {
        /// Time and processor time of the client's transport, as shares of `URLSession`'s.
        func transport() async throws -> [Figure] {
            progress("Sending requests over libcurl and over URLSession")
            // URLSession's time grows with the square of the length.
            let mebibytes = isBrief ? 4 : 64
            let bench = try TransportBench(bodyBytes: mebibytes << 20)
            let (curl, urlSession) = (CurlTransport(), URLSessionTransport())
            var small: [(own: TransportBench.Cost, other: TransportBench.Cost)] = []
            var large = small
            for transport in [curl, urlSession] as [any Transport] {
                _ = try await bench.smallRequests(10, over: transport)
            }
            for _ in 0..<min(rounds, 3) {
                let other = try await bench.smallRequests(1_000, over: urlSession)
                small.append((try await bench.smallRequests(1_000, over: curl), other))
                let otherBody = try await bench.largeBody(over: urlSession)
                large.append((try await bench.largeBody(over: curl), otherBody))
            }
            await bench.stop()
            return Figure.transport("1,000 small requests", small)
                + Figure.transport("A body of \(mebibytes) MiB", large)
        }
    }

    extension Figure {
        fileprivate static func transport(
            _ what: String, _ pairs: [(own: TransportBench.Cost, other: TransportBench.Cost)]
        ) -> [Figure] {
            let milliseconds = { (of: KeyPath<TransportBench.Cost, Double>) in
                pairs.map { (own: $0.own[keyPath: of] * 1_000, other: $0.other[keyPath: of] * 1_000) }
            }
            return [
                .share("\(what), time, of URLSession's", milliseconds(\.time), aim: .atMost(1)) {
                    "\($0) ms of \($1) ms on loopback"
                },
                .share("\(what), processor time, of URLSession's", milliseconds(\.processTime), aim: .atMost(1)) {
                    "\($0) ms of \($1) ms, the server's in both"
                },
            ]
        }
    }
#endif
