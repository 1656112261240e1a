import Foundation
import LatchkeyTesting
import TLSPeer

/// `latchkey-server demo` with a limit of open files, plain or with a certificate at all three listeners.
struct AttackedDemonstration {
    private struct Sheet: Decodable {
        let fairplay, speke, metrics: String

        var ports: [UInt16] { [fairplay, speke, metrics].compactMap(AttackedDemonstration.port) }
    }

    /// The log's line about a listener.
    private struct Listening: Decodable {
        let listener, url: String
    }

    static let limiter = "/usr/bin/prlimit"
    static let isThere =
        AttackTime.program("latchkey-server") != nil && FileManager.default.isExecutableFile(atPath: limiter)

    let process: ServingProcess
    /// The players', the packagers' and the operators'.
    let ports: [UInt16]

    /// Starts it.
    /// - Parameter limit: of open files, the hard one too: the server cannot raise it.
    init(_ limit: Int, in folder: TemporaryFolder, isTLS: Bool = false) async throws {
        guard isTLS else {
            process = try await Self.start(limit, folder)
            ports = try Self.ports(of: process)
            return
        }
        // Its folder stays. `demo` would write the configuration again.
        _ = try await Self.start(1_024, folder).end(by: SIGTERM)
        let configuration = try Self.giveCertificate(URL(filePath: folder.path("demo")))
        let command = [
            "echo starts; exec", Self.limiter, "--nofile=\(limit):\(limit)",
            AttackTime.program("latchkey-server") ?? "",
            "run --config", configuration.path,
        ]
        process = try await ServingProcess(program: "/bin/sh", ["-c", command.joined(separator: " ")])
        // The test's time limit ends this.
        while !process.log.contains("The server accepts requests.") {
            guard process.residentBytes != nil else { throw CocoaError(.executableLoad) }
            await Task.yield()
        }
        let entries = process.log.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Listening.self, from: Data($0.utf8))
        }
        ports = ["players", "packagers", "operators"].compactMap { name in
            Self.port(entries.first { $0.listener == name }?.url ?? "")
        }
    }

    static let livez = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"

    static func start(_ limit: Int, _ folder: TemporaryFolder) async throws -> ServingProcess {
        try await ServingProcess(
            program: limiter,
            [
                "--nofile=\(limit):\(limit)", AttackTime.program("latchkey-server") ?? "", "demo", "--json", "--port",
                "0", "--folder", folder.path("demo"),
            ])
    }

    static func ports(of process: ServingProcess) throws -> [UInt16] {
        try JSONDecoder().decode(Sheet.self, from: process.line).ports
    }

    private static func port(_ url: String) -> UInt16? { URL(string: url)?.port.flatMap { UInt16(exactly: $0) } }

    /// - Returns: the configuration.
    private static func giveCertificate(_ place: URL) throws -> URL {
        let peer = try SelfSigned(isRSA: true)
        try Data(peer.certificate.utf8).write(to: place.appending(path: "tls.pem"))
        let key = place.appending(path: "tls-key.pem")
        try Data(peer.privateKey.utf8).write(to: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
        let configuration = place.appending(path: "server.json")
        let text = try String(contentsOf: configuration, encoding: .utf8)
        let certified = #""port": 0, "certificate": "tls.pem", "privateKey": "tls-key.pem"}"#
        try Data(text.replacing(#""port": 0}"#, with: certified).utf8).write(to: configuration)
        return configuration
    }
}
