import Foundation
import Latchkey
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// A license server with the demo asset's keys in the vault of its tenant, and apps that play from it.
struct StreamingServer: Sendable {
    let test: TestServer
    let certificate: FairPlayCertificate
    let applicationSecret: Secret
    /// A key of the asset by its content's name.
    let keys: [String: StoredKey]

    var server: LicenseServer { test.server }

    /// - Parameters:
    ///   - vendors: the JSON of the tenant's member `vendors`.
    ///   - secrets: the files that it names.
    ///   - policy: in place of the members of the demo's policy.
    ///   - callout: the address of the tenant's own service.
    init(
        vendors: String = "{}", secrets: [String: String] = [:], policy: String = "{}", callout: String? = nil
    ) async throws {
        guard case .object(var rules)? = JSONValue(Data(policy.utf8)) else { throw CocoaError(.coderReadCorrupt) }
        rules["examples"] = .null
        var changes = ["tenants.demo.vendors": JSONValue(Data(vendors.utf8))]
        if let callout { changes["tenants.demo.callout"] = ["url": .text(callout)] }
        test = try await TestServer(
            changes, policy: rules.mapValues { $0 == .null ? nil : $0 }
        ) { folder in
            for (name, text) in secrets { try folder.write(secret: text, to: name) }
        }
        certificate = try #require(test.server.current.licensee.module.credentials.first).certificate
        let hex = try test.folder.text("credentials/ask.hex")
        applicationSecret = Secret(try #require(Data(hexString: hex.trimmingCharacters(in: .whitespacesAndNewlines))))
        let keys = try LiveServices.demoKeys().keys.filter { $0.uri.raw.hasPrefix("skd://demo/") }
        self.keys = Dictionary(keys.map { ($0.lastPathComponent, $0) }) { first, _ in first }
        let vault = try #require(test.server.current.tenants["demo"]).vault
        let demands = try self.keys.map { name, key in
            (demand: KeyDemand(KeyAddress(content: try #require(ContentName(name)), kid: key.id)), key: key.content)
        }
        #expect(try await vault.add(demands) == [])
    }
}

extension StreamingServer {
    /// The start of the tenant's addresses.
    var tenant: String { "\(server.addresses.players.url)/t/demo" }

    func token(_ viewer: String = "ann") throws -> Secret {
        Secret(try test.token(viewer))
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

    /// A loader of an app that speaks the server's own protocol.
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
