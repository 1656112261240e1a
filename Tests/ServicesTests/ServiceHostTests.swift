import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeyTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct ServiceHostTests {
    @Test func `unchanged media keep their key URIs`() async throws {
        try await withMedia { stage in
            let reply = try await stage.send("GET", "/media/video.m3u8")
            #expect(String(decoding: reply.body, as: UTF8.self) == Self.playlist)
        }
    }

    @Test func `a service's media name its keys on this host, with no other change`() async throws {
        try await withMedia { stage in
            let vu = try await stage.send("GET", "/media/vudrm/video.m3u8")
            let host = "127.0.0.1:\(stage.port)"
            #expect(
                String(decoding: vu.body, as: UTF8.self)
                    == Self.playlist.replacing("skd://demo/video", with: "skd://\(host)/vudrm/license/video")
                    .replacing(
                        "skd://oLHC0+T1BhcoOUpbbH2Onw==",
                        with: "skd://\(host)/vudrm/license/a0b1c2d3e4f5061728394a5b6c7d8e9f"))
            let cloud = try await stage.send("GET", "/media/cloud-drm/video.m3u8")
            let uri =
                "skd://\(host)/cloud-drm/acquire-license/fairplay?BrandGuid=\(Stage.brand)&KID=\(Stage.videoKeyID)"
                + "&IV=0f1e2d3c4b5a69788796a5b4c3d2e1f0"
            #expect(
                String(decoding: cloud.body, as: UTF8.self)
                    == Self.playlist.replacing("skd://demo/video", with: uri)
                    .replacing("skd://oLHC0+T1BhcoOUpbbH2Onw==", with: uri))
        }
    }

    @Test func `a key URI of a VuDRM playlist leads to its key`() async throws {
        try await withMedia { stage in
            let playlist = try await stage.send("GET", "/media/vudrm/video.m3u8").body
            for uri in Self.keyURIs(playlist) {
                let exchange = try stage.exchange(uri)
                let token = stage.vuDRM.demoToken().revealedText
                let headers = ["x-vudrm-token": token, "Content-Type": "application/octet-stream"]
                let path = "/" + KeyURI(uri).pathComponents.joined(separator: "/")
                let reply = try await stage.send("POST", path, headers, exchange.spc.revealed)
                #expect(try exchange.open(reply.body, at: stage.time).contentKey == Stage.videoKey)
            }
        }
    }

    @Test func `a key URI of a Cloud DRM playlist leads to its key`() async throws {
        try await withMedia { stage in
            let playlist = try await stage.send("GET", "/media/cloud-drm/video.m3u8").body
            for uri in Self.keyURIs(playlist).map({ KeyURI($0) }) {
                let exchange = try stage.exchange(uri.remainder)
                let headers = ["x-drm-usertoken": stage.cloudDRM.demoToken().revealedText]
                let path = String(uri.remainder.dropFirst(uri.host.count))
                let reply = try await stage.send("POST", path, headers, exchange.spc.revealed)
                #expect(try exchange.open(reply.body, at: stage.time).contentKey == Stage.videoKey)
            }
        }
    }

    @Test(arguments: [
        "/media/vudrm/../keys.json", "/media/%2e%2e/secret", "/media/keys.json", "/media/vudrm/keys.json", "/media/",
        "/media", "/nothing", "/", "/vudrmx/license/video", "/media/.hidden.m3u8", "/media/..%2fsecret.ts",
    ])
    func `other paths get 404`(_ path: String) async throws {
        try await withMedia { stage in
            let status = try await stage.send("GET", path).status
            #expect(status == 404)
        }
    }

    /// Source: Fetch Standard, "CORS protocol".
    @Test func `a page of another origin may request and read the reply`() async throws {
        try await withMedia { stage in
            let asked = try await stage.send(
                "OPTIONS", "/vudrm/license/video",
                [
                    "Origin": "https://a.example", "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "x-vudrm-token",
                ])
            #expect(asked.status == 204)
            #expect(asked.headers["access-control-allow-headers"] == "x-vudrm-token")
            #expect(asked.headers["access-control-allow-origin"] == "*")
            let media = try await stage.send("GET", "/media/video.m3u8")
            #expect(media.headers["access-control-allow-origin"] == "*")
            let plain = try await stage.send("OPTIONS", "/vudrm/license/video")
            #expect(plain.status == 405)
        }
    }

    /// The server itself answers these: a file that was deleted after the reply began, and a request that is too large.
    @Test(arguments: [("GET", 0, 0, 500), ("POST", 2_000, 0, 413), ("GET", 0, 2_000, 431)])
    func `a page may read a refusal that no service made`(
        _ method: String, _ body: Int, _ header: Int, _ status: Int
    ) async throws {
        var configuration = HTTPServerConfiguration()
        (configuration.bodyBytes, configuration.headerBytes) = (1_000, 1_000)
        let host = ServiceHost(
            [], front: { _ in HTTPResponse(status: 200, body: .file(path: "/nowhere", offset: 0, count: 5)) },
            configuration: configuration)
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(try host.start())/")))
        request.httpMethod = method
        if body > 0 { request.httpBody = Data(count: body) }
        if header > 0 { request.setValue(String(repeating: "a", count: header), forHTTPHeaderField: "x-a") }
        let (_, response) = try await URLSession.shared.data(for: request)
        await host.stop()
        let reply = try #require(response as? HTTPURLResponse)
        #expect(reply.statusCode == status && reply.value(forHTTPHeaderField: "Access-Control-Allow-Origin") == "*")
    }

    @Test func `a missing playlist is not found, even below a service's name`() async throws {
        try await withMedia { stage in
            for path in ["/media/none.m3u8", "/media/vudrm/none.m3u8"] {
                let reply = try await stage.send("GET", path)
                #expect(reply.status == 404)
            }
        }
    }

    @Test func `every vendor's service has its own name, environment and valid token`() async throws {
        let services = VendorServices.all(authority: try Stage.authority())
        #expect(services.map(\.identifier).prefix(4) == ["vudrm", "cloud-drm", "azure", "uplynk"])
        #expect(Set(services.map(\.identifier)).count == services.count)
        #expect(Set(services.map { ObjectIdentifier($0.faults) }).count == services.count)
        // The credentials of these, if they need any, are in the key URI or in the app's settings.
        let tokenless: Set<ServiceIdentifier> = [
            "uplynk", "ezdrm", "brightcove", "conax", "anvato", "kaltura", "gumlet", "apple-sample", "bunny-stream",
        ]
        #expect(services.allSatisfy { tokenless.contains($0.identifier) || $0.demoToken().count > 7 })
    }

    @Test func `a path of two services is served only below their names`() async throws {
        let authority = try Stage.authority()
        let services: [any VendorService] = [
            VuDRMService(ServiceEnvironment(authority: authority)),
            VuDRMService(ServiceEnvironment(authority: authority)),
        ]
        let host = ServiceHost(services)
        let port = try host.start()
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/certificate/demo-client"))
        let (data, response) = try await URLSession.shared.data(from: url)
        #expect((response as? HTTPURLResponse)?.statusCode == 404)
        #expect(String(decoding: data, as: UTF8.self).contains("Several vendors"))
        await host.stop()
    }

    @Test func `the journal has events but no secret`() async throws {
        let lines = Lines()
        try await withStage(log: { lines.add($0) }) { stage in
            let token = stage.cloudDRM.demoToken().revealedText
            let exchange = try stage.exchange("x?KID=\(Stage.videoKeyID)")
            let path = "/cloud-drm/acquire-license/fairplay?BrandGuid=\(Stage.brand)&KID=\(Stage.videoKeyID)"
            _ = try await stage.send("POST", path + "&usertoken=\(token)", [:], exchange.spc.revealed)
            _ = try await stage.send("GET", "/vudrm/certificate/demo-client")
            #expect(stage.host.requestCount == 2)
            #expect(stage.host.journal.map(\.method) == ["POST", "GET"])
            #expect(stage.host.journal.map(\.status) == [200, 200])
            // Source: `Documentation/Vendors/README.md` §23.7: the id in the client's error is in the server's log.
            let ids = stage.host.journal.compactMap(\.requestID)
            #expect(ids.count == 2)
            #expect(lines.all.count { line in ids.contains { line.hasSuffix(" ms, request \($0)") } } == 2)
            #expect(stage.host.journal.last?.path == "/vudrm/certificate/demo-client")
            #expect(stage.host.journal.first?.path.contains("KID=\(Stage.videoKeyID)") == true)
            let said = lines.all.joined() + "\(stage.host.journal) \(stage.cloudDRM.warnings)"
            #expect(lines.all.count == 3)
            #expect(!said.contains(token))
            #expect(!said.contains(exchange.spc.revealed.base64EncodedString().prefix(40)))
        }
    }

    static let playlist = """
        #EXTM3U
        #EXT-X-VERSION:6\r
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://demo/video",KEYFORMATVERSIONS="1",KEYFORMAT="com.apple.streamingkeydelivery"\r
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://demo/audio",KEYFORMAT="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"
        #EXT-X-SESSION-KEY:KEYFORMAT="com.apple.streamingkeydelivery",METHOD=SAMPLE-AES,URI="skd://oLHC0+T1BhcoOUpbbH2Onw=="
        #EXT-X-MAP:URI="skd://nothing"
        #EXTINF:2,
        1.m4s
        #EXT-X-KEY:METHOD=NONE

        """

    private static func keyURIs(_ playlist: Data) -> [String] {
        String(decoding: playlist, as: UTF8.self).matches(of: /URI="(skd:\/\/127[^"]*)"/).map { String($0.output.1) }
    }

    private func withMedia(_ body: (Stage) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.playlist, to: "video.m3u8")
        try folder.write("{}", to: "keys.json")
        try folder.write("#EXTM3U", to: ".hidden.m3u8")
        try await withStage(media: MediaHost(folder: folder.url), body)
    }
}

/// Lines of a log.
final class Lines: Sendable {
    private let lines = Locked<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
