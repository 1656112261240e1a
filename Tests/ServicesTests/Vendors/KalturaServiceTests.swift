import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct KalturaServiceTests {
    private static let id = Stage.videoKeyID

    @Test func `a customer is told the addresses and the certificate itself`() async throws {
        try await withService(KalturaService.init) { stage in
            #expect(stage.keyURI == KeyURI("skd://\(Self.id)"))
            #expect(
                stage.service.parameters(at: "http://h/kaltura") == [
                    "certificateURL": "http://h/kaltura/fps/certificate",
                    "certificate": Stage.certificate.base64EncodedString(),
                    "licenseURL": "http://h/kaltura/fps/license",
                ])
            let reply = try await stage.send("GET", "/fps/certificate")
            #expect(reply.body == Stage.certificate)
        }
    }

    @Test(arguments: [
        (LicenseTerms(), "0"), (LicenseTerms(.lease(.seconds(900))), "0"),
        (LicenseTerms(.persistentFor(.seconds(86_400))), "86400"), (LicenseTerms(.persistent), "4294967295"),
        (LicenseTerms(.dualExpiry(storage: .seconds(600), playback: .seconds(60))), "600"),
    ])
    func `base64 text gets JSON that tells how long the key may be stored`(
        _ terms: LicenseTerms, _ duration: String
    ) async throws {
        try await withService(policy: LicensePolicy(standard: terms), KalturaService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(Data(exchange.spc.base64.utf8))
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/json")
            #expect(try reply.member("persistence_duration") == duration)
            #expect(try stage.opensVideo(reply.payload("ckc"), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `line breaks in the base64 pass with a warning`() async throws {
        try await withService(KalturaService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let text = exchange.spc.revealed.base64EncodedString(options: .lineLength64Characters)
            let reply = try await stage.license(Data(text.utf8))
            #expect(try stage.opensVideo(reply.payload("ckc"), exchange))
            #expect(stage.warnings == ["base64"])
        }
    }

    @Test(arguments: [
        ("", 400, "malformedRequest"), ("?", 400, "malformedRequest"), ("AAAA", 400, "malformedContainer"),
    ])
    func `a body that is no base64 of an SPC is refused`(_ body: String, _ status: Int, _ code: String) async throws {
        try await withService(KalturaService.init) { stage in
            let reply = try await stage.license(Data(body.utf8))
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }

    @Test func `a raw SPC and an unknown key are refused`() async throws {
        try await withService(KalturaService.init) { stage in
            let raw = try await stage.license(try stage.exchange(Self.id).spc.revealed)
            #expect(raw.code == "malformedRequest")
            let unknown = try await stage.license(Data(try stage.exchange("nothing").spc.base64.utf8))
            #expect(unknown.status == 404)
        }
    }

    /// Source: `Documentation/Vendors/Kaltura.md`.
    @Test(
        arguments: [
            (id, 200, nil), ("nothing", 200, "404"), ("skd://\(id)", 200, nil),
        ] as [(String, Int, String?)])
    func `a web player names the key in a header, and gets errors as documents`(
        _ name: String, _ status: Int, _ code: String?
    ) async throws {
        try await withService(KalturaService.init, { $0.documentsErrors = true }) { stage in
            let exchange = try stage.exchange(Self.id)
            let headers = [
                "Content-Type": "application/json", "X-Kaltura-InitData": Data(name.utf8).base64EncodedString(),
            ]
            let reply = try await stage.send("POST", "/fps/license", headers, Data(exchange.spc.base64.utf8))
            #expect(reply.status == status)
            #expect(try reply.member("status_code") == code)
            if code == nil { #expect(try stage.opensVideo(reply.payload("ckc"), exchange)) }
        }
    }

    @Test func `a damaged CKC keeps its envelope`() async throws {
        try await withService(KalturaService.init) { stage in
            stage.service.faults.set(.truncatedPayload, at: .license)
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(Data(exchange.spc.base64.utf8))
            let ckc = try #require(try reply.payload("ckc"))
            #expect(throws: (any Error).self) { try exchange.open(ckc, at: stage.time) }
        }
    }
}

extension ServiceStage<KalturaService> {
    fileprivate func license(_ body: Data) async throws -> Reply {
        let path = "/fps/license?custom_data=abc&signature=def"
        return try await send("POST", path, ["Content-Type": "application/octet-stream"], body)
    }
}
