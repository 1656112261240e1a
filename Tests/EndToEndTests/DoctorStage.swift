import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// A correct stream, service and app. A test breaks them in one place before it runs `latchkey doctor`.
final class DoctorStage {
    let live: LiveServices
    let profile: VendorProfile
    let folder: TemporaryFolder
    /// The values for `--set`, by name.
    var settings: [String: String]
    var playlist: String
    /// The source of the SPC. Defaults to the simulated device.
    var device: [String]
    /// Additional arguments of the command line.
    var options = ["--loopback-http"]
    private let asset: DemoAsset
    private var servers: [HTTPServer] = []
    private var plainServer: LoopbackServer?

    init(_ live: LiveServices, _ profile: VendorProfile, _ asset: DemoAsset) throws {
        (self.live, self.profile, self.asset) = (live, profile, asset)
        folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        settings = live.configured(profile).settings
        if profile.parameters.contains(where: { $0.name == "token" }) {
            settings["token"] = live.service(for: profile).issueToken().revealedText
        }
        playlist = live.playlist(asset, for: profile)
        device = ["--credentials", folder.path("c")]
    }

    var service: RecordingService { live.service(for: profile) }

    /// The output of doctor.
    func diagnose() async throws -> Findings {
        let words =
            ["doctor", playlist, "--vendor", profile.identifier]
            + settings.flatMap { ["--set", "\($0.key)=\($0.value)"] }
            + device + options + ["--json"]
        let findings = try Findings(try await ToolProcess.run(words))
        // Without a token, EZDRM's custom data is the content identifier, which is not secret.
        let ids = service.environment.authority.keys.keys.map { Data("\($0.id)".utf8) }
        for secret in service.secrets where !ids.contains(secret) {
            #expect(SecretForms(secret).found(in: findings.text).isEmpty)
        }
        return findings
    }

    func stop() async { for server in servers { await server.stop(within: .zero) } }

    /// The findings of the tool.
    struct Findings {
        let status: Int32
        let cause: String?
        let sentSecrets: Bool
        let checks: [[String: String]]
        let text: String

        init(_ outcome: ToolProcess.Outcome) throws {
            status = outcome.status
            text = outcome.output + outcome.error
            let json = try #require(outcome.json, "\(outcome.error)")
            checks = try #require(json["checks"] as? [[String: String]])
            cause = (json["cause"] as? [String: String])?["code"]
            sentSecrets = try #require(json["sentSecrets"] as? Bool)
        }

        /// The codes of the problems and warnings.
        var codes: [String] { checks.compactMap { $0["code"] } }
    }
}

// MARK: - Sabotage

extension DoctorStage {
    /// Writes the stream to disk, with the key URIs of its service and with its text edited.
    /// - Parameter edit: receives the name of a playlist and its text; `nil` removes the playlist.
    func rewritePlaylists(_ edit: (String, String) -> String?) throws {
        let copy = folder.file("stream")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.copyItem(at: DemoAsset.folder.appending(path: asset.rawValue), to: copy)
        let host = live.address.split(separator: "://").last.map(String.init) ?? ""
        for name in try FileManager.default.contentsOfDirectory(atPath: copy.path) where name.hasSuffix(".m3u8") {
            let file = copy.appending(path: name)
            var text = try String(contentsOf: file, encoding: .utf8)
            for key in service.environment.authority.keys.keys {
                text = text.replacing("\"\(key.uri.raw)\"", with: "\"\(service.keyURI(for: key, at: host))\"")
            }
            try FileManager.default.removeItem(at: file)
            if let edited = edit(name, text) { try Data(edited.utf8).write(to: file) }
        }
        playlist = copy.appending(path: "master.m3u8").path
    }

    /// Edits a file of the stream on disk; `nil` removes it.
    func rewriteMedia(_ name: String, _ edit: (Data) -> Data?) throws {
        if !FileManager.default.fileExists(atPath: folder.path("stream")) { try rewritePlaylists { $1 } }
        let file = folder.file("stream/\(name)")
        let edited = edit(try Data(contentsOf: file))
        try FileManager.default.removeItem(at: file)
        try edited?.write(to: file)
    }

    /// Passes a file with an SPC for the stream's key in `--spc`.
    /// - Parameter credentials: the folder of the credentials for the SPC.
    func recordSPC(with credentials: String = "c", _ edit: (Data) throws -> Data = { $0 }) async throws {
        let key = try #require(service.environment.authority.keys.keys.first)
        let made = try await ToolProcess.run(
            "spc", "--credentials", folder.path(credentials), "--content-id", "\(key.id)", "--out",
            folder.path("made.spc"), "--state", folder.path("made.state"))
        #expect(made.status == 0, "\(made.error)")
        try edit(Data(contentsOf: folder.file("made.spc"))).write(to: folder.file("given.spc"))
        device = ["--spc", folder.path("given.spc")]
    }

    /// A CKC that answers the SPC of `recordSPC`.
    func recordedCKC() async throws -> Data {
        let zeros = String(repeating: "0", count: 32)
        let made = try await ToolProcess.run(
            "ckc", "--credentials", folder.path("c"), "--key", zeros, "--iv", zeros, "--out", folder.path("made.ckc"),
            folder.path("made.spc"))
        #expect(made.status == 0, "\(made.error)")
        return try Data(contentsOf: folder.file("made.ckc"))
    }

    /// Credentials that no service here has, in the folder `other`.
    func makeOtherCredentials() throws -> TestCredentials {
        let other = try TestCredentials.make(bits: 1024)
        try other.write(to: folder.file("other"))
        return other
    }

    /// A separate server on loopback.
    /// - Returns: its http address.
    func serve(_ reply: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) throws -> String {
        let server = HTTPServer { await reply($0) }
        servers.append(server)
        return "http://127.0.0.1:\(try server.start())"
    }

    /// A server that does not speak TLS, and answers a client that does as most do. libmicrohttpd answers nothing where the random bytes of such a
    /// client have no blank before the end of a line.
    func servePlain() throws -> UInt16 {
        let server = try LoopbackServer { _, _ in LoopbackServer.reply("400 Bad Request") }
        plainServer = server
        return server.port
    }

    func serve(tls: HTTPServerConfiguration.TLS) throws -> String {
        var configuration = HTTPServerConfiguration()
        configuration.tls = tls
        let server = HTTPServer(configuration) { _ in .text("There is nothing here.", status: 404) }
        servers.append(server)
        return "https://127.0.0.1:\(try server.start())"
    }
}

/// A setup with one fault, and the doctor's expected finding.
struct DoctorSetup: Sendable, CustomTestStringConvertible {
    let sentence: String
    /// The code of the one true cause.
    let cause: String
    /// Whether bytes alone show the cause, so that neither SPC nor credentials may be sent.
    var sendsNothing = false
    /// Words that the output must contain.
    var words: [String] = []
    var profile = VendorProfile.vuDRM
    var asset = DemoAsset.transportStream
    var keys: (@Sendable () throws -> ContentKeyStore)?
    let sabotage: @Sendable (DoctorStage) async throws -> Void

    init(
        _ sentence: String, _ cause: String, silent sendsNothing: Bool = false, words: [String] = [],
        _ profile: VendorProfile = .vuDRM, _ asset: DemoAsset = .transportStream,
        _ sabotage: @escaping @Sendable (DoctorStage) async throws -> Void = { _ in },
        keys: (@Sendable () throws -> ContentKeyStore)? = nil
    ) {
        (self.sentence, self.cause, self.sendsNothing, self.words) = (sentence, cause, sendsNothing, words)
        (self.profile, self.asset, self.keys, self.sabotage) = (profile, asset, keys, sabotage)
    }

    var testDescription: String { sentence }
}
