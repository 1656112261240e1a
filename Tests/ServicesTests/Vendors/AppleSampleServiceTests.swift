import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyVendorWire
import Testing

@Suite(.timeLimit(.minutes(5))) struct AppleSampleServiceTests {
    private static let id = Stage.videoKeyID

    @Test func `a customer is told where certificate and licenses are`() async throws {
        try await withService(AppleSampleService.init) { stage in
            #expect(stage.keyURI == KeyURI("skd://\(Self.id)"))
            #expect(
                stage.service.parameters(at: "http://h/apple-sample") == [
                    "certificateURL": "http://h/apple-sample/ksm/certificate.cer",
                    "licenseURL": "http://h/apple-sample/ksm",
                ])
            let reply = try await stage.send("GET", "/ksm/certificate.cer")
            #expect(reply.body == Stage.certificate)
        }
    }

    @Test func `a form gets a CKC between tags on a line of its own`() async throws {
        try await withService(AppleSampleService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(exchange.spc.base64)
            #expect(reply.status == 200)
            #expect(reply.text.hasPrefix("\n<ckc>") && reply.text.hasSuffix("</ckc>\n"))
            #expect(try stage.opensVideo(Data(base64Encoded: String(reply.text.dropFirst(6).dropLast(7))), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the tags may be absent`() async throws {
        try await withService(AppleSampleService.init, { $0.ckc = .base64 }) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(exchange.spc.base64, asset: "skd://\(Self.id)")
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
        }
    }

    @Test func `unescaped base64 passes with a warning`() async throws {
        try await withService(AppleSampleService.init) { stage in
            let spc = try stage.exchange(Self.id).spc.base64
            try #require(spc.contains("+"))
            let reply = try await stage.send("POST", "/ksm", [:], Data("spc=\(spc)&assetId=\(Self.id)".utf8))
            #expect(reply.status == 200)
            #expect(stage.warnings == ["formEscaping"])
        }
    }

    @Test(arguments: [
        ("?", id, 400, "malformedRequest"), ("AAAA", id, 400, "malformedContainer"), (nil, "", 400, "malformedRequest"),
        ("", id, 400, "malformedRequest"), (nil, "nothing", 404, "unknownKey"), (nil, "audio", 403, "contentMismatch"),
    ])
    func `a form that is wrong in one thing`(
        _ spc: String?, _ asset: String, _ status: Int, _ code: String
    ) async throws {
        try await withService(AppleSampleService.init) { stage in
            let reply = try await stage.license(try spc ?? stage.exchange(Self.id).spc.base64, asset: asset)
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }
}

extension ServiceStage<AppleSampleService> {
    fileprivate func license(_ spc: String, asset: String = Stage.videoKeyID) async throws -> Reply {
        let body = "spc=\(formEncoded(spc))&assetId=\(formEncoded(asset))"
        return try await send("POST", "/ksm", [:], Data(body.utf8))
    }
}
