// The processes of stores exist in debug builds only.
#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeySystem
    import LatchkeyTesting
    import TLSPeer

    @testable import StoreProcesses

    /// A real nginx or HAProxy on loopback, or a proxy that pools as Envoy does. It keeps its connections to the servers behind it, and sends any client's next request over them.
    final class FrontProxy: Sendable {
        enum Kind: String, CaseIterable {
            case nginx, haproxy, pool

            fileprivate var path: String { self == .pool ? "/usr/bin/python3" : "/usr/sbin/\(rawValue)" }
            static var areThere: Bool {
                allCases.allSatisfy { FileManager.default.isExecutableFile(atPath: $0.path) }
            }
        }

        static let whyNot = "nginx and HAProxy are not there; make engines installs them"

        let port: UInt16
        var url: String { "http://127.0.0.1:\(port)" }
        private let process = Subprocess()
        private let folder: TemporaryFolder

        /// Starts one, and waits until it accepts connections.
        /// - Parameter ports: the servers' ports, on loopback.
        init(_ kind: Kind, to ports: [UInt16]) async throws {
            let (folder, port) = (try TemporaryFolder(), Self.freePort())
            (self.folder, self.port) = (folder, port)
            process.executableURL = URL(filePath: "/usr/bin/setpriv")
            let arguments: [String]
            switch kind {
            case .nginx:
                let file = try folder.write(Self.nginx(port, ports, folder.url.path), to: "nginx.conf")
                arguments = ["-c", file, "-p", folder.url.path, "-e", folder.path("errors")]
            case .haproxy:
                arguments = ["-db", "-f", try folder.write(Self.haproxy(port, ports), to: "haproxy.cfg")]
            case .pool:
                process.environment = ["PYTHONPATH": PythonRun.file("Scripts"), "PYTHONDONTWRITEBYTECODE": "1"]
                arguments = [PythonRun.file("Scripts/Trials/restarts.py"), "\(port)"] + ports.map { "\($0)" }
            }
            process.arguments = ["--pdeathsig", "KILL", kind.path] + arguments
            let hasEnded = Locked(false)
            // The proxy dies with the thread that started it, so that thread waits for its end.
            Thread.detachNewThread { [process] in
                _ = try? process.run()
                process.waitUntilExit()
                hasEnded.withLock { $0 = true }
            }
            while (try? LocalSocket(port)) == nil {
                guard !hasEnded.withLock({ $0 }) else { throw CocoaError(.executableLoad) }
                try Task.checkCancellation()
                await Task.yield()
            }
        }

        deinit { process.send(SIGKILL) }

        /// A port on which nothing listens, below the range from which the system assigns ports: it cannot be taken meanwhile.
        private static func freePort() -> UInt16 {
            while true {
                let port = UInt16.random(in: 15_000..<32_000)
                if (try? LocalSocket(port)) == nil { return port }
            }
        }

        private static func nginx(_ port: UInt16, _ ports: [UInt16], _ folder: String) -> String {
            """
            daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/errors;
            events { worker_connections 512; }
            http {
              access_log off;
              client_body_temp_path \(folder)/1; proxy_temp_path \(folder)/2; fastcgi_temp_path \(folder)/3;
              uwsgi_temp_path \(folder)/4; scgi_temp_path \(folder)/5;
              upstream servers { \(ports.map { "server 127.0.0.1:\($0) max_fails=0;" }.joined(separator: " ")) keepalive 16; }
              server {
                listen 127.0.0.1:\(port);
                location / { proxy_pass http://servers; proxy_http_version 1.1; proxy_set_header Connection ""; }
              }
            }
            """
        }

        private static func haproxy(_ port: UInt16, _ ports: [UInt16]) -> String {
            """
            global
              maxconn 512
              nbthread 1
            defaults
              mode http
              timeout connect 60s
              timeout client 60s
              timeout server 60s
              http-reuse always
              option redispatch 1
            frontend all
              bind 127.0.0.1:\(port)
              default_backend servers
            backend servers
            \(ports.map { "  server at\($0) 127.0.0.1:\($0)\n" }.joined())
            """
        }
    }
#endif
