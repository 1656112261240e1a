import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyOperation
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault

/// A whole license server out of a demo folder, on loopback, with the demo asset's keys in the vault of its tenant.
struct ServerStage: Sendable {
    let server: LicenseServer
    let folder: TemporaryFolder
    let certificate: FairPlayCertificate
    let applicationSecret: Secret
    /// A key of the asset by its content's name.
    let keys: [String: StoredKey]

    /// What all tests share: making an RSA key takes longer than starting a server.
    private static let credentials = Result { try TestCredentials.make(bits: 2048) }

    /// Starts a server, runs a closure, and stops it.
    /// - Parameters:
    ///   - vendors: the JSON of the tenant's member `vendors`.
    ///   - secrets: the files that it names.
    ///   - policy: in place of the members of the demo's policy.
    static func with<Value: Sendable>(
        vendors: String = "{}", secrets: [String: String] = [:], policy: String = "{}",
        _ body: (ServerStage) async throws -> Value
    ) async throws -> Value {
        let folder = try TemporaryFolder()
        let demo = try DemoFolder(folder.url, ports: [0, 0, 0], credentials: credentials.get())
        for (name, text) in secrets { try folder.write(text, to: name, mode: 0o600) }
        try change(demo.configuration) { members in
            let tenant: [String: Any] = ["vendors": try object(vendors)]
            members["tenants"] = try merged(members["tenants"], ["demo": tenant])
            var stores = try #require(members["stores"] as? [String: Any])
            // A busy machine is no outage.
            stores["sessionMilliseconds"] = 10_000
            members["stores"] = stores
        }
        try change(folder.path("policies/demo.json")) { members in
            members["examples"] = nil
            for (name, value) in try object(policy) { members[name] = value is NSNull ? nil : value }
        }
        try await demo.makeTenants()
        let server = try await LicenseServer(
            ConfigurationFile(demo.configuration), lines: LineWriter { _ in })
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(try await ServerStage(server, folder, demo)))
        } catch { result = .failure(error) }
        await server.stop(within: .zero)
        return try result.get()
    }

    private init(_ server: LicenseServer, _ folder: TemporaryFolder, _ demo: DemoFolder) async throws {
        self.server = server
        self.folder = folder
        let credential = try #require(server.current.licensee.module.credentials.first)
        certificate = credential.certificate
        let hex = try String(contentsOf: folder.file("credentials/ask.hex"), encoding: .utf8)
        applicationSecret = Secret(try #require(Data(hexString: hex.trimmingCharacters(in: .whitespacesAndNewlines))))
        let keys = try LiveServices.demoKeys().keys.filter { $0.uri.raw.hasPrefix("skd://demo/") }
        self.keys = Dictionary(keys.map { ($0.lastPathComponent, $0) }) { first, _ in first }
        let vault = try #require(server.current.tenants["demo"]).vault
        let demands = try self.keys.map { name, key in
            (demand: KeyDemand(KeyAddress(content: try #require(ContentName(name)), kid: key.id)), key: key.content)
        }
        #expect(try await vault.add(demands) == [])
    }

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private static func merged(_ value: Any?, _ other: [String: [String: Any]]) throws -> [String: Any] {
        var members = try #require(value as? [String: [String: Any]])
        for (name, inner) in other { members[name, default: [:]].merge(inner) { $1 } }
        return members
    }

    private static func change(_ path: String, _ body: (inout [String: Any]) throws -> Void) throws {
        let url = URL(filePath: path)
        var members = try object(String(contentsOf: url, encoding: .utf8))
        try body(&members)
        try JSONSerialization.data(withJSONObject: members).write(to: url)
    }
}

extension ServerStage {
    /// Where the tenant's addresses begin.
    var tenant: String { "\(server.addresses.players.url)/t/demo" }

    func token(_ viewer: String = "ann") throws -> Secret {
        try DemoFolder.token(in: folder.url, for: viewer, at: Date())
    }

    /// A loader of an app that speaks by a profile.
    func loader(
        _ profile: VendorProfile, _ settings: [String: String], timekeeper: any Timekeeper = SystemTimekeeper(),
        token: @escaping @Sendable () throws -> Secret
    ) -> ContentKeyLoader {
        ContentKeyLoader(
            profile.with(settings).unchecked,
            credentials: Credentials { _ in CredentialSet(["token": try token()]) }, configuration: .loopback,
            timekeeper: timekeeper)
    }

    /// A loader of an app that speaks the server's own language.
    func loader(_ viewer: String = "ann", timekeeper: any Timekeeper = SystemTimekeeper()) -> ContentKeyLoader {
        let settings = ["certificateURL": "\(tenant)/certificate", "licenseURL": "\(tenant)/fairplay"]
        return loader(.latchkey, settings, timekeeper: timekeeper) { [self] in try self.token(viewer) }
    }

    /// A device with the server's test credentials; each identifier is another device.
    func player(_ loader: ContentKeyLoader, device: UInt8 = 1) -> SimulatedPlayer {
        SimulatedPlayer(
            loader: loader, applicationSecret: applicationSecret, certificate: certificate,
            deviceIdentifier: Secret([UInt8](repeating: device, count: 20)))
    }

    /// Plays a demo stream whose playlists have the server's key URIs.
    func play(_ loader: ContentKeyLoader, _ asset: DemoAsset) async throws -> StreamReport {
        let media = MediaHost(folder: DemoAsset.folder)
        let rewriting = PlaylistKeyRewriting { [keys] uri in
            keys.first { $0.value.uri == uri }.map { "skd://\($0.key)/\($0.value.id)" }
        }
        let host = HTTPServer { media.respond(to: $0, rewriting: rewriting) }
        let port = try host.start()
        let result: Result<StreamReport, any Error>
        do {
            result = .success(
                try await player(loader).play(
                    "http://127.0.0.1:\(port)/\(asset.rawValue)/master.m3u8", with: FFmpeg(),
                    reference: try DemoAsset.reference()))
        } catch { result = .failure(error) }
        await host.stop(within: .zero)
        return try result.get()
    }
}
