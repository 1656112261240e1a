import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyHLS
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyPackaging
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVault
import LatchkeyVendors
import Testing

/// A third-party packager asks our server for its keys; its output plays with licenses of the same keys.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: ShakaPackager.isThere, "\(ShakaPackager.whyNot)"))
struct ShakaPackagerTests {
    private static let signer = (name: "test", key: Data(repeating: 1, count: 32), iv: Data(repeating: 2, count: 16))
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The demo asset without encryption.
    private func clearMedia() async throws -> URL {
        let file = folder.file("clear.mp4")
        try await LiveServices.with { live in
            let report = try await live.player(live.loader(.vuDRM)).play(
                live.playlist(.twoKeys, for: .vuDRM), with: FFmpeg(), clearMedia: file)
            #expect(report.failure == nil)
        }
        return file
    }

    private func vault() async throws -> TenantVault {
        let wrapping = KeyEncryptionKeys(
            try KeyEncryptionKey(id: "kek", key: Secret([UInt8](repeating: 1, count: 32))))
        let store = MemorySealedKeyStore()
        let secrets = try await TenantSecrets.create("acme", in: store, with: wrapping)
        return TenantVault(secrets, store: store)
    }

    /// Packages with keys of a vault.
    private func package(_ media: URL, _ vault: TenantVault, period: Int?) async throws -> ToolProcess.Outcome {
        let signer = try #require(CommonEncryptionSigner(key: Secret(Self.signer.key), iv: [UInt8](Self.signer.iv)))
        let exchange = CommonEncryptionExchange(tenant: "acme", source: vault, signers: [Self.signer.name: signer])
        let server = HTTPServer { request in await exchange.answer(request.body).response }
        let port = try server.start()
        let outcome = try await ShakaPackager.package(
            media, into: folder.url, server: "http://127.0.0.1:\(port)/keys", content: "a movie", signer: Self.signer,
            period: period)
        await server.stop(within: .zero)
        return outcome
    }

    /// The keys of all URIs in the playlists, each found by its URI.
    private func keys(_ vault: TenantVault) async throws -> [StoredKey] {
        let names = ["video.m3u8", "audio.m3u8"]
        let texts = try names.map { String(decoding: try Data(contentsOf: folder.file($0)), as: UTF8.self) }
        let uris = Set(texts.flatMap { $0.matches(of: /URI="(skd:[^"]*)"/).map { KeyURI(String($0.output.1)) } })
        var keys: [StoredKey] = []
        for uri in uris {
            let reading = try #require(KeyURIReading(ContentIdentifier(uri.raw), template: nil))
            keys.append(StoredKey(uri: uri, id: reading.kid, content: try await vault.key(reading.kid).content))
        }
        return keys
    }

    @Test(arguments: [nil, 2] as [Int?])
    func `media packaged with our keys plays, each picture and all of the sound right`(_ period: Int?)
        async throws
    {
        let media = try await clearMedia()
        let vault = try await vault()
        let outcome = try await package(media, vault, period: period)
        #expect(outcome.status == 0, "\(outcome.error)")
        let keys = try await keys(vault)
        // Picture and sound have a key each, in each of three periods.
        #expect(keys.count == (period == nil ? 2 : 6))
        for key in keys {
            let facts = try await vault.key(key.id).facts
            #expect(facts.content == "a movie")
            #expect([TrackClass.sd, .audio].contains(facts.track))
        }
        try await LiveServices.with(keys: ContentKeyStore(keys), media: folder.url) { live in
            let report = try await live.player(live.loader(.vuDRM)).play(
                live.playlist("master.m3u8", for: .vuDRM), with: FFmpeg(), picture: folder.file("picture.png"),
                reference: try DemoAsset.reference())
            #expect(report.failure == nil)
            let tracks = try #require(report.verdict).tracks
            // The clear copy has the parameter sets before each segment once more, so its samples are not the asset's; its pictures are.
            #expect(tracks.first { $0.media == .video }?.frames?.matching == 150)
            let sound = try #require(tracks.first { $0.media == .audio }?.samples)
            #expect(sound.matching == sound.expected)
            #expect(report.keys.count == keys.count)
        }
    }

    @Test func `a packager that signs with another key gets none, and says why`() async throws {
        let media = try await clearMedia()
        let stranger = try #require(
            CommonEncryptionSigner(key: Secret([UInt8](repeating: 9, count: 32)), iv: [UInt8](Self.signer.iv)))
        let exchange = CommonEncryptionExchange(
            tenant: "acme", source: try await vault(), signers: [Self.signer.name: stranger])
        let server = HTTPServer { request in await exchange.answer(request.body).response }
        let port = try server.start()
        let outcome = try await ShakaPackager.package(
            media, into: folder.url, server: "http://127.0.0.1:\(port)/keys", content: "a movie", signer: Self.signer,
            period: nil)
        await server.stop(within: .zero)
        #expect(outcome.status != 0)
        #expect(outcome.error.contains(Data(#"{"status":"SIGNATURE_FAILED"}"#.utf8).base64EncodedString()))
    }
}

/// A third-party packager's output, checked against the rules of Apple's players: no false alarm, and its options' mistakes are named.
@Suite(
    .timeLimit(.minutes(5)), .enabled(if: ShakaPackager.isThere, "\(ShakaPackager.whyNot)"),
    .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"))
struct PackagedStreamTests {
    private static let whole = ["--clear_lead", "0"]

    static let cases: [(form: ShakaPackager.Form, options: [String], codes: [String])] = [
        (.fragments, whole + ["--hls_key_uri", "skd://one", "--create_session_keys"], []), (.fragments, whole, []),
        (.fragments, whole + ["--crypto_period_duration", "2"], []), (.fragments, ["--clear_lead", "2"], []),
        (.wholeFiles, whole, []), (.transportStream, whole, []), (.packedAudio, whole, []),
        (.fragments, whole + ["--crypt_byte_block", "5", "--skip_byte_block", "5"], ["videoPattern"]),
        (.fragments, whole + ["--crypt_byte_block", "10", "--skip_byte_block", "0"], ["videoPattern"]),
        (.fragments, whole + ["--protection_scheme", "cenc"], ["sampleAESCTR", "wrongScheme"]),
    ]

    @Test(arguments: cases.indices) func `a packager's folder is checked before any key is requested`(_ index: Int)
        async throws
    {
        let one = Self.cases[index]
        let folder = try TemporaryFolder()
        let clear = folder.file("clear.mp4")
        let clip = try await ToolProcess.run(
            program: FFmpeg().path,
            ("-v error -f lavfi -i testsrc2=size=320x180:rate=25:duration=6 -f lavfi -i sine=duration=6 -c:v libx264 -g 50 -bf 0 -c:a aac "
                + clear.path).split(separator: " ").map(String.init))
        #expect(clip.status == 0, "\(clip.error)")
        let out = folder.file("out")
        let made = try await ShakaPackager.encrypt(clear, into: out, as: one.form, one.options)
        #expect(made.status == 0, "\(made.error)")
        let found = try await ToolProcess.run("keys", out.path, "--json")
        let checks = try #require(found.json?["checks"] as? [[String: String]], "\(found.output)\(found.error)")
        #expect(
            checks.compactMap { $0["code"] } == one.codes && found.status == (one.codes.isEmpty ? 0 : 1),
            "\(found.output)")
        let containers = try #require(found.json?["containers"] as? [String: Any])
        #expect((containers["segments"] as? Int ?? 0) >= 2 && containers["notLookedAt"] == nil)
    }
}
