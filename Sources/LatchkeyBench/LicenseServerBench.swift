import LatchkeyDecision
import LatchkeyForms

#if os(Linux)
    import Foundation
    import LatchkeyCore
    import LatchkeyFairPlay
    import LatchkeySystem
    import LatchkeyHTTP
    import LatchkeyPlayback

    /// A `latchkey-server` in a separate process, and its viewers' requests in wire form.
    ///
    /// Each viewer has a token, and a slot that each request renews. Sessions, keys and audit are in memory. A trusted proxy's
    /// field names many clients, because the load of one would be limited.
    final class LicenseServerBench {
        let port: UInt16
        let packagers: UInt16
        private let operators: UInt16
        private let key: Secret
        private let spcs: [[UInt8]]
        /// Requests with a raw SPC, each with its own token.
        let requests: [[UInt8]]
        private let folder: WorkingFolder
        private let process = Subprocess()
        private let clock: clockid_t

        /// Starts the server next to this program.
        /// - Parameters:
        ///   - bench: holds the credentials and the SPCs, which name a key in the form of the standard template.
        ///   - policy: the tenant's policy, in JSON; `nil` for none, which counts no sessions.
        ///   - cryptoMB: the setting of that name. Defaults to one license at a time.
        ///   - counter: counts the server's allocations. Defaults to none.
        init(
            _ bench: KeyServerBench, policy: String?, cryptoMB: String = "off", counter: AllocationCounter? = nil
        ) throws {
            key = Secret.random(32)
            spcs = bench.spcs
            folder = try WorkingFolder()
            do {
                try Self.write(folder.url, bench.credentials, key, policy, cryptoMB)
                requests = try Self.requests(bench.spcs, key)
                process.environment = ProcessInfo.processInfo.environment.merging(counter?.environment ?? [:]) { $1 }
                let server = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "latchkey-server")
                guard let server, FileManager.default.isExecutableFile(atPath: server.path) else {
                    throw Diagnosis.toolMissing("latchkey-server next to this program")
                }
                (port, packagers, operators) = try Self.start(
                    process, server, folder.url.appending(path: "server.json"))
            } catch {
                folder.remove()
                throw error
            }
            var clock = clockid_t()
            clock_getcpuclockid(process.processIdentifier, &clock)
            self.clock = clock
        }

        /// The load generator, which counts the server's processor time.
        var load: LicenseLoad {
            var load = LicenseLoad(port: port, requests: requests)
            load.counting = .otherProcess(clock)
            // As many as the server processes or always queues, so that only a busy machine makes it refuse one.
            load.connections = 2 * ProcessInfo.processInfo.activeProcessorCount
            load.comesAgain = true
            return load
        }

        /// The average number of licenses that a call of crypto_mb opened; `nil` without calls.
        func operationsPerCall() throws -> Double? {
            let request = HTTPRequest(method: .get, target: "/metrics").bytes(to: "127.0.0.1")
            let reply = try RequestLoop(host: "127.0.0.1", port: Int(operators), connections: 1).reply(to: request)
            let lines = String(decoding: reply.bytes ?? Data(), as: UTF8.self).split(separator: "\n")
            let value = { (name: String) in
                lines.first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0
            }
            let calls = value("latchkey_rsa_batches_total")
            return calls > 0 ? value("latchkey_rsa_batch_operations_total") / calls : nil
        }

        /// Stops the server. Blocks until it has ended.
        func stop() {
            process.terminate()
            process.waitUntilExit()
            Leftovers.ended(process.processIdentifier)
            folder.remove()
        }
    }

    extension LicenseServerBench {
        /// A policy that counts sessions: five-minute leases, and one stream per viewer.
        static let policy = """
            {"version": 1, "name": "bench", "validity": {"type": "lease", "lease": "5m"},
             "concurrency": {"scope": "account", "limit": 1, "mode": "refuseNewest"}}
            """

        /// The same with a heartbeat each half minute.
        static let heartbeats = policy.replacing(#""limit": 1,"#, with: #""limit": 1, "heartbeat": "30s","#)

        /// Gets a license for each request. Blocks until all have arrived.
        /// - Returns: for each one, its player's heartbeat request.
        /// - Throws: `loadFailed` for a reply without a heartbeat's token.
        static func heartbeatRequests(_ port: UInt16, _ requests: [[UInt8]]) throws(Diagnosis) -> [[UInt8]] {
            let loop = RequestLoop(host: "127.0.0.1", port: Int(port), connections: 1)
            var heartbeats: [[UInt8]] = []
            for request in requests {
                guard let token = try loop.reply(to: request).headers["x-latchkey-heartbeat-token"] else {
                    throw .loadFailed("a license has no heartbeat's token")
                }
                heartbeats.append(Self.request("sessions/heartbeat", token, number: heartbeats.count))
            }
            return heartbeats
        }

        /// License requests of further viewers.
        func requests(ofViewersFrom first: Int) throws -> [[UInt8]] {
            try Self.requests(spcs, key, ofViewersFrom: first)
        }

        /// A request of one of many clients.
        static func request(_ path: String, _ token: String, number: Int, body: Data = Data()) -> [UInt8] {
            let headers: HTTPHeaders = [
                .authorization: "Bearer \(token)", "X-Forwarded-For": "10.0.\(number % 256).1",
                .contentType: "application/octet-stream",
            ]
            return HTTPRequest(method: .post, target: "/t/bench/\(path)", headers: headers, body: body)
                .bytes(to: "127.0.0.1")
        }

        private static func write(
            _ folder: URL, _ credentials: TestCredentials, _ key: Secret, _ policy: String?, _ cryptoMB: String
        ) throws {
            let policies = folder.appending(path: "policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try credentials.write(to: folder.appending(path: "credentials"))
            let keys = #"{"keys":[{"kty":"oct","kid":"bench","alg":"HS256","k":"\#(Base64URL.text(key.revealed))"}]}"#
            try PrivateFile.write(Secret(keys), to: folder.appending(path: "keys.json"))
            if let policy { try Data(policy.utf8).write(to: policies.appending(path: "bench.json")) }
            let listener = #"{"address": "127.0.0.1", "port": 0}"#
            let configuration = """
                {"version": 1, "players": \(listener), "packagers": \(listener), "operators": \(listener), "drainDelay": "0s",
                 "trustedProxies": ["127.0.0.1"], "licensee": {"credentials": [{"folder": "credentials"}]},
                 "policies": "policies", "cryptoMB": "\(cryptoMB)",
                 "tenants": {"bench": {\(policy == nil ? "" : "\"policy\": \"bench\", ")"unlisted": "derive", "slots": "players",
                   "tokens": {"keys": "keys.json"},
                   "packagers": [{"name": "bench", "apiKey": "\(try MessageDigest.sha256(Array(packagerKey.utf8)).hexString)",
                     "rights": ["speke:read"]}]}}}
                """
            try Data(configuration.utf8).write(to: folder.appending(path: "server.json"))
        }

        /// The key that the bench's packager sends.
        static let packagerKey = "packager-key-of-the-bench"

        private static func requests(
            _ spcs: [[UInt8]], _ key: Secret, ofViewersFrom first: Int = 0
        ) throws -> [[UInt8]] {
            try spcs.enumerated().map { index, spc in
                let number = first + index
                return request("fairplay", try token(ofViewer: number, key), number: number, body: Data(spc))
            }
        }

        /// The token of a viewer.
        func token(ofViewer number: Int) throws -> String { try Self.token(ofViewer: number, key) }

        private static func token(ofViewer number: Int, _ key: Secret) throws -> String {
            let signer = try TokenSigner(.hs256, id: TokenKeyID("bench"), secret: key)
            let now = Date().timeIntervalSince1970.rounded(.down)
            return try signer.token([
                "sub": .text("viewer-\(number)"), "sid": .text("session-\(number)"), "iat": .number(now),
                "exp": .number(now + 600),
            ]).revealedText
        }

        /// - Returns: the ports for players, packagers and operators. The server's log is read from then on, as a log collector would, and
        ///   discarded.
        private static func start(
            _ process: Subprocess, _ server: URL, _ configuration: URL
        ) throws -> (UInt16, UInt16, UInt16) {
            let output = Pipe()
            process.executableURL = server
            process.arguments = ["run", "--config", configuration.path]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = output
            _ = try Leftovers.start {
                try process.run()
                return process.processIdentifier
            }
            var text = ""
            while true {
                let more = output.fileHandleForReading.availableData
                guard !more.isEmpty else { throw Diagnosis.toolFailed("latchkey-server", text) }
                text += String(decoding: more, as: UTF8.self)
                // The log lists the listeners in this order.
                let ports = text.matches(of: /"url":"http:\/\/127\.0\.0\.1:([0-9]+)"/).compactMap { UInt16($0.1) }
                guard ports.count == 3 else { continue }
                output.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
                return (ports[0], ports[1], ports[2])
            }
        }
    }

    extension Bench {
        /// The production server; takes some minutes.
        var serverParts: [Part] {
            [
                ("Licenses of the server with a token", { try await licenseServer("a token", policy: nil) }),
                (
                    "Licenses of the server with token, policy and slot",
                    { try await licenseServer("token, policy and slot", policy: LicenseServerBench.policy) }
                ),
                ("Heartbeats of the server", { [try await heartbeats(keyServer())] }),
                ("Licenses of the server, in batches of eight", { try await licensesTogether(keyServer()) }),
            ] + [budgetPart]
        }

        /// SPCs that name a key in the form of the standard template.
        func keyServer() throws -> KeyServerBench {
            var generator = SystemRandomNumberGenerator()
            guard let kid = KeyID(bytes: generator.bytes(16)) else { throw Diagnosis.loadFailed("no key identifier") }
            return try KeyServerBench(bits: 2048, identifier: ContentIdentifier("skd://bench/\(kid)"))
        }

        private func licenseServer(_ what: String, policy: String?) async throws -> [Figure] {
            progress("Serving licenses of the server with \(what)")
            let bench = try keyServer()
            let server = try LicenseServerBench(bench, policy: policy)
            defer { server.stop() }
            return try await licenses("of the server with \(what)", server.load, bench, aim: .atMost(60))
        }

        /// Heartbeats of the production server: takes some 5 seconds.
        private func heartbeats(_ bench: KeyServerBench) async throws -> Figure {
            progress("Taking heartbeats")
            let server = try LicenseServerBench(bench, policy: LicenseServerBench.heartbeats)
            defer { server.stop() }
            var load = server.load
            load.requests = try await onThread { [port = server.port, requests = server.requests] in
                try LicenseServerBench.heartbeatRequests(port, requests)
            }
            _ = try await load.run(seconds: 0.3)
            var times: [Double] = []
            for _ in 0..<rounds { times.append(try await load.run(seconds: 0.6).processTimePerPiece * 1e6) }
            return Figure(
                name: "A heartbeat of the server, sessions in memory", value: times.median ?? 0, unit: .microseconds,
                aim: .atMost(60), note: "the server's processor time")
        }
    }
#endif
