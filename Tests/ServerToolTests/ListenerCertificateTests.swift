import Foundation
import LatchkeyFairPlay
import TLSPeer
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// Listeners whose certificates are replaced while the server runs.
@Suite(.timeLimit(.minutes(2)))
struct ListenerCertificateTests {
    /// A server whose listeners of players and operators have a certificate each.
    private struct Stage {
        let stage: TestServer
        let players, operators: SelfSigned

        init() async throws {
            let (players, operators) = (try SelfSigned(), try SelfSigned(days: 3))
            (self.players, self.operators) = (players, operators)
            stage = try await TestServer(prepare: { folder in
                try players.serve("players", of: folder)
                try operators.serve("operators", of: folder)
            })
        }

        static func port(_ place: ServerAddresses.Listener) throws -> UInt16 {
            #expect(place.url.hasPrefix("https://"))
            return try #require(URL(string: place.url)?.port.flatMap { UInt16(exactly: $0) })
        }

        /// Whether new connections see a certificate of players and one of operators.
        func shows(_ players: SelfSigned, _ operators: SelfSigned) async throws -> Bool {
            let addresses = stage.server.addresses
            let seen = (
                try await TLSConnection.open(Self.port(addresses.players)).certificate,
                try await TLSConnection.open(Self.port(addresses.operators)).certificate
            )
            return seen == (players.der, operators.der)
        }

        /// The operators' listener's answer over TLS.
        func ask(_ path: String, _ method: String = "GET") async throws -> String {
            let connection = try await TLSConnection.open(Self.port(stage.server.addresses.operators))
            return try await connection.ask(
                """
                \(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(TestServer.key(.security))\r\n\
                Content-Length: 0\r\nConnection: close\r\n\r\n
                """, until: "\u{0}")
        }
    }

    @Test func `a reload takes new certificates, and old connections stay open`() async throws {
        let test = try await Stage()
        #expect(try await test.shows(test.players, test.operators))
        let old = try await TLSConnection.open(Stage.port(test.stage.server.addresses.operators))
        let (players, operators) = (try SelfSigned(), try SelfSigned())
        try players.write("players", to: test.stage.folder.url)
        try operators.write("operators", to: test.stage.folder.url)
        let reloaded = try await test.ask("/admin/v1/reload", "POST")
        #expect(reloaded.hasPrefix("HTTP/1.1 200 ") && reloaded.hasSuffix(#"{"restart":[]}"#), "\(reloaded)")
        #expect(try await test.shows(players, operators))
        let reply = try await old.ask("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", until: "\n")
        #expect(reply.hasPrefix("HTTP/1.1 200 "))
        let entries = try await test.stage.server.shared.engines.audit.entries(from: 1, limit: 1_000).map(\.text)
        #expect(entries.contains { $0.contains(#""certificates":"operators players""#) }, "\(entries)")
    }

    @Test func `changing the files alone is enough, one after the other`() async throws {
        let test = try await Stage()
        let time = ManualTimekeeper()
        let watch = Task { [server = test.stage.server] in await server.watchFiles(time) }
        await time.untilSomeoneSleeps()
        let players = try SelfSigned()
        try players.write("players", to: test.stage.folder.url, .certificate)
        time.advance(by: .seconds(1))
        await time.untilSomeoneSleeps()
        // The key is still the old one's.
        #expect(try await test.shows(test.players, test.operators))
        #expect(try await test.ask("/metrics").contains("latchkey_config_last_reload_successful 0"))
        try players.write("players", to: test.stage.folder.url, .key)
        time.advance(by: .seconds(1))
        await time.untilSomeoneSleeps()
        #expect(try await test.shows(players, test.operators))
        #expect(try await test.ask("/metrics").contains("latchkey_config_last_reload_successful 1"))
        watch.cancel()
        await watch.value
    }

    @Test func `a mismatched pair on one listener keeps all certificates in force`() async throws {
        let test = try await Stage()
        try SelfSigned().write("players", to: test.stage.folder.url)
        try SelfSigned().write("operators", to: test.stage.folder.url, .certificate)
        let error = await #expect(throws: ServerProblems.self) { try await test.stage.server.reload() }
        #expect(error?.problems.map(\.place) == ["operators"])
        #expect(try await test.shows(test.players, test.operators))
    }

    @Test func `a private key readable by others is refused, and the old pair stays until it is fixed`()
        async throws
    {
        let test = try await Stage()
        let time = ManualTimekeeper()
        let watch = Task { [server = test.stage.server] in await server.watchFiles(time) }
        await time.untilSomeoneSleeps()
        let players = try SelfSigned()
        try players.write("players", to: test.stage.folder.url)
        let key = test.stage.folder.url.appending(path: "players-key.pem").path
        try #require(chmod(key, 0o640) == 0)
        let error = await #expect(throws: ServerProblems.self) { try await test.stage.server.reload() }
        #expect(error?.problems.map(\.place) == ["players"])
        #expect(error?.reason.contains("The file \(key) is accessible to other users.") == true)
        #expect(try await test.shows(test.players, test.operators))
        time.advance(by: .seconds(1))
        await time.untilSomeoneSleeps()
        try #require(chmod(key, 0o600) == 0)
        time.advance(by: .seconds(1))
        await time.untilSomeoneSleeps()
        #expect(try await test.shows(players, test.operators))
        watch.cancel()
        await watch.value
    }

    @Test(arguments: [(0o600, false, true), (0o640, false, false), (0o640, true, true), (0o660, true, false)])
    func `the check accepts a private key only its owner can read, or a secret mount others cannot change`(
        _ mode: mode_t, _ isMounted: Bool, _ isRight: Bool
    ) async throws {
        let folder = try ServerFolder([
            "players.certificate": "tls/players.pem", "players.privateKey": "tls/players-key.pem",
        ])
        if isMounted { try folder.edit(["licensee.secretMounts": ["tls"]]) }
        let tls = folder.file("tls")
        try FileManager.default.createDirectory(at: tls, withIntermediateDirectories: true)
        try SelfSigned().write("players", to: tls)
        try #require(chmod(tls.appending(path: "players-key.pem").path, mode) == 0)
        let file = try ConfigurationFile(folder.configuration)
        try await folder.makeTenants()
        let engines = try await ServerEngines.open(file)
        defer { engines.close() }
        do {
            try await ServerShared(file, engines, LineWriter { _ in }).builder(file).state().retire()
            #expect(isRight)
        } catch let error as ServerProblems {
            #expect(!isRight && error.reason.contains("is accessible to other users"), "\(error.reason)")
        }
    }

    @Test func `certificate expiry is in the metrics and logged in time`() async throws {
        let test = try await Stage()
        let metrics = try await test.ask("/metrics")
        for listener in ["players", "operators"] {
            #expect(metrics.contains(#"latchkey_tls_certificate_expiry_timestamp_seconds{listener="\#(listener)"}"#))
        }
        #expect(!metrics.contains(#"latchkey_tls_certificate_expiry_timestamp_seconds{listener="packagers"}"#))
        let notices = test.stage.server.current.notices.map(\.text)
        #expect(notices.contains("The TLS certificate of operators expires in 3 days; replace it in time."))
        #expect(!notices.contains { $0.contains("players") })
    }

    @Test(arguments: [
        ("players-key.pem", "players: The TLS certificate and key were not accepted"),
        ("missing.pem", "missing.pem"), ("packagers-key.pem", nil),
    ])
    func `a check reads the listeners' pairs and reports an expired certificate`(
        _ key: String, _ expected: String?
    ) async throws {
        let place = expected == nil ? "packagers" : "players"
        let folder = try ServerFolder(["\(place).certificate": "packagers.pem", "\(place).privateKey": .text(key)])
        try SelfSigned().write("players", to: folder.url)
        try SelfSigned(days: -5).write("packagers", to: folder.url)
        let file = try ConfigurationFile(folder.configuration)
        try await folder.makeTenants()
        let engines = try await ServerEngines.open(file)
        let builder = try ServerShared(file, engines, LineWriter { _ in }).builder(file)
        if let expected {
            let error = await #expect(throws: ServerProblems.self) { try await builder.state() }
            #expect(error?.reason.contains(expected) == true, "\(error?.reason ?? "")")
        } else {
            let state = try await builder.state()
            state.retire()
            // It is an hour younger than its days.
            #expect(
                state.notices.map(\.text).contains(
                    "The TLS certificate of packagers expired 4 days ago; replace it."),
                "\(state.notices)")
        }
        engines.close()
    }
}

extension SelfSigned {
    enum Part { case certificate, key }

    /// Becomes the certificate of a listener.
    func serve(_ listener: String, of folder: ServerFolder) throws {
        try write(listener, to: folder.url)
        try folder.edit([
            "\(listener).certificate": "\(listener).pem", "\(listener).privateKey": "\(listener)-key.pem",
        ])
    }

    /// Writes the certificate and the key of a listener, or one of them.
    func write(_ listener: String, to folder: URL, _ part: Part? = nil) throws {
        if part != .key { try Data(certificate.utf8).write(to: folder.appending(path: "\(listener).pem")) }
        guard part != .certificate else { return }
        try PrivateFile.write(Secret(privateKey), to: folder.appending(path: "\(listener)-key.pem"))
    }
}
