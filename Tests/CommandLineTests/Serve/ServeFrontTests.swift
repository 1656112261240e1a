import Foundation
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct ServeFrontTests {
    private static let credentials = Result { try TestCredentials.make(bits: 1024) }
    private let front: ServeFront

    init() async throws {
        let credential = try Self.credentials.get().credential
        let keys = try ContentKeyStore(contentsOf: DemoAsset.folder.appending(path: "keys.json"))
        let module = KeyServerModule(credentials: [credential], derivation: InsecureTestDerivation())
        front = ServeFront(
            services: VendorServices.all(authority: LicenseAuthority(module: module, keys: keys)),
            certificates: [credential.certificate], folders: ["my credentials"],
            media: await MediaFolder(DemoAsset.folder), scheme: "http")
    }

    private func reply(_ target: String, host: String = "127.0.0.1:8080") -> HTTPResponse? {
        front.answer(HTTPRequest(method: "GET", target: target, headers: ["Host": host]))
    }

    private func text(_ target: String, host: String = "127.0.0.1:8080") -> String {
        String(decoding: reply(target, host: host)?.bytes ?? Data(), as: UTF8.self)
    }

    @Test func `every service has a line to paste that is quoted for the shell`() {
        let sheet = front.sheet(at: "http://127.0.0.1:8080")
        #expect(sheet.services.count == front.services.count)
        for service in sheet.services {
            let line = service.play ?? ""
            #expect(line.hasPrefix("latchkey play http://127.0.0.1:8080/media/\(service.service)/"))
            #expect(line.contains("--vendor \(service.profile)"))
            #expect(line.contains("--credentials 'my credentials'"))
            #expect(!line.replacing(/'[^']*'/, with: "").contains { "?&;|<> $\"\\".contains($0) && $0 != " " })
        }
    }

    @Test func `the facts above the lines fit a terminal`() {
        let head = front.sheet(at: "http://127.0.0.1:65535").text.components(separatedBy: "To play").first ?? ""
        #expect(head.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func `tokens are new each time and appear on neither page nor sheet`() {
        let tokens = (0..<2).map { _ in text("/tokens/vudrm") }
        #expect(tokens[0] != tokens[1])
        #expect(tokens[0].hasPrefix("demo-client|"))
        #expect(reply("/tokens/vudrm")?.headers["Cache-Control"] == "no-store")
        #expect(reply("/tokens/ezdrm")?.status == 404)
        #expect(reply("/tokens/nobody") == nil)
        let shown = text("/") + front.sheet(at: "http://a").text
        #expect(!shown.contains("demo-client|") && !shown.contains(/eyJ[\w-]+\.eyJ/))
    }

    @Test func `the page names the host that reached it and repeats nothing else of a request`() {
        #expect(text("/", host: "tv.local:81").contains("http://tv.local:81/media/vudrm/"))
        #expect(text("/", host: "<script>").contains("http://127.0.0.1/media/vudrm/"))
        #expect(text("/").contains("<title>Latchkey test server</title>"))
    }

    @Test func `health and certificates respond`() throws {
        #expect(text("/health").contains(#""status":"ok""#))
        let der = try Self.credentials.get().credential.certificate.der
        #expect(reply("/certificates/1.der")?.bytes == der)
        #expect(text("/certificates/1.pem").hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        for path in [
            "/certificates/0.der", "/certificates/2.der", "/certificates/x", "/certificates/1.key", "/vudrm/x",
        ] {
            #expect(reply(path) == nil)
        }
    }
}
