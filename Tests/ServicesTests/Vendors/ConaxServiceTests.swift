import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyVendorWire
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConaxServiceTests {
    @Test func `the key URI is the key's id in base64`() async throws {
        try await withService(ConaxService.init) { stage in
            // base64 of a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f
            #expect(stage.keyURI == "skd://YTBiMWMyZDMtZTRmNS0wNjE3LTI4MzktNGE1YjZjN2Q4ZTlm")
            #expect(
                stage.service.parameters(at: "http://h/conax") == [
                    "certificateURL": "http://h/conax/conax-fairplay/certificate",
                    "licenseURL": "http://h/conax/conax-fairplay/license",
                ])
            let reply = try await stage.send("GET", "/conax-fairplay/certificate")
            #expect(reply.body == Stage.certificate)
        }
    }

    @Test(arguments: CKCEnvelope.allCases)
    func `a raw request gets a CKC in each form that clients take`(_ envelope: CKCEnvelope) async throws {
        try await withService(ConaxService.init, { $0.ckc = envelope }) { stage in
            let exchange = try stage.exchange(Stage.videoKeyID)
            let reply = try await stage.license(exchange.spc.revealed)
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.ckc(in: envelope), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the bytes of a key id are an identifier, too`() async throws {
        try await withService(ConaxService.init) { stage in
            let bytes = try #require(Data(base64Encoded: "oLHC0+T1BhcoOUpbbH2Onw=="))
            let exchange = try stage.exchange(ContentIdentifier(bytes: bytes))
            let reply = try await stage.license(exchange.spc.revealed)
            #expect(try stage.opensVideo(reply.body, exchange))
        }
    }

    @Test(arguments: [
        ("POST", "application/octet-stream", "nothing", 404, "unknownKey"),
        ("POST", "application/json", Stage.videoKeyID, 415, "mediaType"),
        ("POST", "application/octet-stream", nil, 400, "malformedContainer"),
        ("PUT", "application/octet-stream", Stage.videoKeyID, 405, "method"),
    ])
    func `a request that is wrong in one thing`(
        _ method: String, _ type: String, _ identifier: String?, _ status: Int, _ code: String
    ) async throws {
        try await withService(ConaxService.init) { stage in
            let spc = try identifier.map { try stage.exchange($0).spc.revealed } ?? Data("no".utf8)
            let reply = try await stage.send(method, "/conax-fairplay/license", ["Content-Type": type], spc)
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }
}

extension ServiceStage<ConaxService> {
    fileprivate func license(_ spc: Data) async throws -> Reply {
        try await send("POST", "/conax-fairplay/license", ["Content-Type": "application/octet-stream"], spc)
    }
}

extension Reply {
    /// The CKC, taken out of an envelope by hand.
    func ckc(in envelope: CKCEnvelope) throws -> Data? {
        switch envelope {
        case .raw: return body
        case .base64: return Data(base64Encoded: text)
        case .tagged:
            #expect(text.hasPrefix("<ckc>") && text.hasSuffix("</ckc>"))
            return Data(base64Encoded: String(text.dropFirst(5).dropLast(6)))
        case .json: return try payload("ckc")
        }
    }
}
