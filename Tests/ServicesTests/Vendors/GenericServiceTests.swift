import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyVendorWire
import Testing

@Suite(.timeLimit(.minutes(5))) struct GenericServiceTests {
    private static let id = Stage.videoKeyID

    /// The four dialects of §20.
    enum Dialect: CaseIterable {
        case raw, base64, form, json

        var type: String {
            switch self {
            case .raw: "application/octet-stream"
            case .base64: "text/plain"
            case .form: "application/x-www-form-urlencoded"
            case .json: "application/json"
            }
        }

        func body(_ spc: Data, asset: String = GenericServiceTests.id) -> Data {
            let text = spc.base64EncodedString()
            return switch self {
            case .raw: spc
            case .base64: Data(text.utf8)
            case .form: Data("spc=\(formEncoded(text))&assetId=\(formEncoded(asset))".utf8)
            case .json: Data(#"{"spc":"\#(text)","assetId":"\#(asset)"}"#.utf8)
            }
        }

        var reply: CKCEnvelope {
            switch self {
            case .raw: .raw
            case .base64, .form: .base64
            case .json: .json
            }
        }
    }

    @Test func `a customer is told where certificate and licenses are`() async throws {
        try await withService(GenericService.init) { stage in
            #expect(stage.keyURI == KeyURI("skd://\(Self.id)"))
            #expect(
                stage.service.parameters(at: "http://h/generic") == [
                    "certificateURL": "http://h/generic/certificate", "licenseURL": "http://h/generic/license",
                ])
            let reply = try await stage.send("GET", "/certificate")
            #expect(reply.body == Stage.certificate)
        }
    }

    @Test(arguments: Dialect.allCases, ["/license", nil])
    func `each dialect is answered in kind, told by type or by path`(_ dialect: Dialect, _ path: String?) async throws {
        try await withService(GenericService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.send(
                "POST", path ?? "/\(dialect)", ["Content-Type": dialect.type], dialect.body(exchange.spc.revealed))
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.ckc(in: dialect.reply), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test(arguments: ["skd://\(id)", "skd://host/path/\(id)", "skd://\(id)/path?a=b", "video", "skd://demo/video"])
    func `any part of the key URI is a content identifier`(_ identifier: String) async throws {
        try await withService(GenericService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let body = Dialect.json.body(exchange.spc.revealed, asset: identifier)
            let reply = try await stage.send("POST", "/license", ["Content-Type": "application/json"], body)
            #expect(try stage.opensVideo(reply.payload("ckc"), exchange))
        }
    }

    @Test func `base64 under the type of bytes is answered as base64`() async throws {
        try await withService(GenericService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.send(
                "POST", "/license", ["Content-Type": "application/octet-stream"], Data(exchange.spc.base64.utf8))
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
        }
    }

    @Test func `a form may be answered between tags`() async throws {
        try await withService(GenericService.init, { $0.formReply = .tagged }) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.send("POST", "/form", [:], Dialect.form.body(exchange.spc.revealed))
            #expect(try stage.opensVideo(reply.ckc(in: .tagged), exchange))
        }
    }

    @Test(arguments: [
        ("GET", "/license", "", nil, 405), ("POST", "/license", "image/png", Data([0]), 415),
        ("POST", "/raw", "application/octet-stream", Data(), 400), ("POST", "/raw", "text/plain", Data([0]), 415),
        ("POST", "/base64", "text/plain", Data("?".utf8), 400),
        ("POST", "/json", "application/json", Data("[]".utf8), 400),
        ("POST", "/json", "application/json", Data("{}".utf8), 400), ("POST", "/nothing", "", Data(), 404),
        ("POST", "/form", "application/x-www-form-urlencoded", Data("assetId=a".utf8), 400),
    ])
    func `a request that is wrong in one thing`(
        _ method: String, _ path: String, _ type: String, _ body: Data?, _ status: Int
    ) async throws {
        try await withService(GenericService.init) { stage in
            let reply = try await stage.send(method, path, ["Content-Type": type], body)
            #expect(reply.status == status)
        }
    }

    @Test(arguments: [Dialect.form, .json])
    func `an asset that is not the SPC's is refused`(_ dialect: Dialect) async throws {
        try await withService(GenericService.init) { stage in
            let body = dialect.body(try stage.exchange(Self.id).spc.revealed, asset: "audio")
            let reply = try await stage.send("POST", "/license", ["Content-Type": dialect.type], body)
            #expect(reply.status == 403)
            #expect(reply.code == "contentMismatch")
        }
    }

    @Test(arguments: [(nil, 401), ("Bearer wrong", 403), ("Bearer right", 200), ("right", 200)])
    func `a token counts where one is configured`(_ header: String?, _ status: Int) async throws {
        try await withService(GenericService.init, { $0.token = Secret("right") }) { stage in
            let headers = ["Content-Type": "application/octet-stream", "Authorization": header]
            let spc = try stage.exchange(Self.id).spc.revealed
            let reply = try await stage.send("POST", "/license", headers.compactMapValues { $0 }, spc)
            #expect(reply.status == status)
        }
    }
}
