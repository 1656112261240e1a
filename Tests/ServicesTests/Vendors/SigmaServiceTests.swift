import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct SigmaServiceTests {
    private static let id = Stage.videoKeyID
    private static let path = "/license/verify/fairplay"

    /// The header of the vendor's page, in base64.
    private static func customer(_ session: String = "SESSION_ID", merchant: String = "MERCHANT_ID") -> String {
        Data(
            #"{"userId":"USER_ID","sessionId":"\#(session)","merchantId":"\#(merchant)","appId":"APP_ID"}"#.utf8
        ).base64EncodedString()
    }

    @Test func `a customer is told merchant, app and addresses`() async throws {
        try await withService(SigmaService.init) { stage in
            #expect(stage.keyURI.raw.hasSuffix("/sigma/license/verify/fairplay?assetId=\(Self.id)&keyId=\(Self.id)"))
            let told = stage.service.parameters(at: "http://h/sigma")
            #expect(told["certificateURL"] == "http://h/sigma/app/fairplay/merchant/app")
            let certificate = try await stage.send("GET", "/app/fairplay/merchant/app")
            #expect(certificate.body == Stage.certificate)
        }
    }

    @Test func `JSON as on the vendor's page gets the license in JSON`() async throws {
        try await withService(SigmaService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(
                "?assetId=\(Self.id)&keyId=\(Self.id)", "application/json",
                #"{"spc":"\#(exchange.spc.base64)","assetId":"\#(Self.id)"}"#)
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.payload("license"), exchange))
            #expect(try reply.member("expireTime") == nil)
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `a form as from the vendor's SDK gets the license, and a lease is stated in seconds`() async throws {
        let policy = LicensePolicy(standard: LicenseTerms(.lease(.seconds(600))))
        try await withService(policy: policy, SigmaService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let form = "spc=\(formEncoded(exchange.spc.base64))&assetId=\(Self.id)&keyId=\(Self.id)"
            let reply = try await stage.license("", "application/x-www-form-urlencoded", form)
            #expect(try stage.opensVideo(reply.payload("license"), exchange))
            #expect(try reply.member("expireTime") == "600")
        }
    }

    @Test(arguments: [
        (nil, 401), ("%%%", 401), (Data("[]".utf8).base64EncodedString(), 401),
        (Data(#"{"userId":"U"}"#.utf8).base64EncodedString(), 401), (customer("another"), 403),
        (customer(merchant: "another"), 403),
    ])
    func `who asks has to be said, and known`(header: String?, status: Int) async throws {
        try await withService(
            SigmaService.init,
            {
                ($0.merchant, $0.session) = ("MERCHANT_ID", Secret("SESSION_ID"))
            }
        ) { stage in
            let body = #"{"spc":"\#(try stage.exchange(Self.id).spc.base64)","assetId":"\#(Self.id)"}"#
            let headers = ["Content-Type": "application/json"].merging(header.map { ["custom-data": $0] } ?? [:]) { $1 }
            let reply = try await stage.send("POST", Self.path, headers, Data(body.utf8))
            #expect(reply.status == status)
        }
    }

    @Test(arguments: [
        (#"{"spc":"SPC"}"#, 400), ("{}", 400), (#"{"spc":"?","assetId":"a"}"#, 400),
        (#"{"spc":"SPC","assetId":"other"}"#, 404),
    ])
    func `a body that lacks something, or names another asset, is refused`(body: String, status: Int) async throws {
        try await withService(SigmaService.init) { stage in
            let spc = try stage.exchange(Self.id).spc.base64
            let reply = try await stage.license("", "application/json", body.replacing("SPC", with: spc))
            #expect(reply.status == status)
        }
    }
}

extension ServiceStage<SigmaService> {
    fileprivate func license(_ query: String, _ type: String, _ body: String) async throws -> Reply {
        let customer = #"{"userId":"USER_ID","sessionId":"SESSION_ID","merchantId":"MERCHANT_ID","appId":"APP_ID"}"#
        return try await send(
            "POST", "/license/verify/fairplay\(query)",
            ["Content-Type": type, "custom-data": Data(customer.utf8).base64EncodedString()], Data(body.utf8))
    }
}
