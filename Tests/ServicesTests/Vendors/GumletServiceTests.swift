import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyVendorWire
import Testing

@Suite(.timeLimit(.minutes(5))) struct GumletServiceTests {
    private static let id = Stage.videoKeyID

    @Test func `a customer is told where certificate and licenses are`() async throws {
        try await withService(GumletService.init) { stage in
            #expect(stage.keyURI == KeyURI("skd://\(Self.id)"))
            #expect(
                stage.service.parameters(at: "http://h/gumlet") == [
                    "certificateURL": "http://h/gumlet/gumlet-fairplay/certificate",
                    "licenseURL": "http://h/gumlet/gumlet-fairplay/license",
                ])
            let reply = try await stage.send("GET", "/gumlet-fairplay/certificate")
            #expect(reply.body == Stage.certificate)
        }
    }

    @Test(arguments: CKCEnvelope.allCases)
    func `JSON with URL-safe base64 gets a CKC in each form that clients take`(
        _ envelope: CKCEnvelope
    ) async throws {
        try await withService(GumletService.init, { $0.ckc = envelope }) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(["spc": exchange.spc.revealed.base64URL])
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.ckc(in: envelope), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the standard alphabet passes with a warning`() async throws {
        try await withService(GumletService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            try #require(exchange.spc.base64.contains("+"))
            let reply = try await stage.license(["spc": exchange.spc.base64])
            #expect(try stage.opensVideo(reply.payload("ckc"), exchange))
            #expect(stage.warnings == ["base64"])
        }
    }

    @Test(arguments: [[:], ["spc": ""], ["spc": "?"]])
    func `a body without an SPC is refused`(_ fields: [String: String]) async throws {
        try await withService(GumletService.init) { stage in
            let reply = try await stage.license(fields)
            #expect(reply.status == 400)
            #expect(reply.code == "malformedRequest")
        }
    }

    @Test func `a raw SPC and an unknown key are refused`() async throws {
        try await withService(GumletService.init) { stage in
            let headers = ["Content-Type": "application/octet-stream"]
            let raw = try await stage.send("POST", "/gumlet-fairplay/license", headers, Data([0]))
            #expect(raw.status == 415)
            let unknown = try await stage.license(["spc": try stage.exchange("nothing").spc.revealed.base64URL])
            #expect(unknown.status == 404)
        }
    }
}

extension ServiceStage<GumletService> {
    fileprivate func license(_ fields: [String: String]) async throws -> Reply {
        try await sendJSON("/gumlet-fairplay/license", fields)
    }
}
