import Foundation
@_spi(Integrations) import Latchkey
import LatchkeyTesting
import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app's own vendors: one that needs nothing but JSON, and one in code.
private enum Vendors {
    static func lantern() throws -> ConfiguredVendor {
        let json = #"""
            {
              "identifier": "lantern", "name": "Lantern",
              "parameters": [
                {"name": "certificateURL", "meaning": "the certificate", "isRequired": true, "isCredential": false, "example": "https://drm.lantern.example/cert"},
                {"name": "licenseURL", "meaning": "the service", "isRequired": true, "isCredential": false, "example": "https://drm.lantern.example/fps"},
                {"name": "token", "meaning": "the token of the title", "isRequired": true, "isCredential": true, "example": "AAAA"}
              ],
              "contentIdentifier": {"query": "kid"},
              "certificate": {"fetched": {"request": {"url": {"base": {"setting": "certificateURL"}}}, "decoder": {"json": "certificate"}}},
              "license": {
                "method": "POST",
                "url": {"base": {"setting": "licenseURL"}, "changes": [{"appendPath": "contentID"}]},
                "headers": [{"name": "X-Lantern", "value": {"credential": "token"}}],
                "body": {"json": {"payload": {"$": "spc"}, "persist": {"$": {"onlyFor": {"purpose": "persistable", "text": {"fixed": "yes"}}}}}}
              },
              "decoder": {"json": ["ckc", "data.ckc"]},
              "terms": {"lease": {"reply": "data.lease"}, "storage": {"reply": "data.storage"}},
              "errors": {"code": [{"json": "reason"}], "kinds": {"NO_RIGHTS": "forbidden", "BUSY": "rateLimited"}}
            }
            """#
        return try VendorProfile(json: Data(json.utf8)).configured([
            "certificateURL": "https://drm.lantern.example/cert", "licenseURL": "https://drm.lantern.example/fps",
        ])
    }
}

/// A token for an entitlement, the entitlement and a signature with each license request, and a wrapped reply.
private struct BeaconKeys: VendorIntegration {
    let identifier = "beacon"
    let certificateURL: URL?
    let licenseURL: URL?
    let entitlement: @Sendable (String) async throws -> String
    let sign: @Sendable (Data) -> String
    var redaction: Redaction { Redaction(headers: ["x-entitlement", "x-signature"], fields: ["device"]) }

    func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier {
        ContentIdentifier(key.lastPathComponent ?? key.raw)
    }

    func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        guard let user = try await context.credentials().values["token"] else {
            throw IntegrationError(.missingCredential, "There is no token.")
        }
        var body = ["spc": spc.bytes.revealed.base64EncodedString(), "key": context.keyURI.remainder]
        if context.purpose == .renewal { body["renew"] = "1" }
        let data = try JSONEncoder().encode(body)
        var request = try defaultLicenseRequest(for: spc, context)
        request.httpBody = data
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(try await entitlement(user.revealedText), forHTTPHeaderField: "x-entitlement")
        request.setValue(sign(data), forHTTPHeaderField: "x-signature")
        return request
    }

    func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        try ErrorRules(code: [.json("err.code")], message: [.json("err.text")], kinds: ["B7": .concurrencyLimit])
            .check(exchange.reply)
        struct Reply: Decodable { let ckc: Data, seconds: Int? }
        guard let reply = try? JSONDecoder().decode(Reply.self, from: exchange.reply.body) else {
            throw IntegrationError(.licenseMalformed, "The reply is not the documented JSON.")
        }
        return License(ckc: Secret(reply.ckc), terms: reply.seconds.map { LicenseTerms(.lease(.seconds($0))) })
    }
}

/// The programs above, as an app's tests run them.
@Suite(.timeLimit(.minutes(5))) struct VendorProgramTests {
    private func answer(
        _ loader: ContentKeyLoader, _ key: KeyURI, _ transport: FakeTransport
    ) async -> (FakeKeyRequest.Answer, URLRequest?) {
        let request = FakeKeyRequest(key, asset: "movie-1")
        loader.answer(request)
        return (await request.firstAnswer(), transport.requests.last { $0.httpMethod == "POST" })
    }

    private static let ckc = SampleBytes.ckc().base64EncodedString()

    @Test(arguments: [
        (200, #"{"data":{"ckc":"\#(ckc)","lease":600}}"#, nil), (403, #"{"reason":"NO_RIGHTS"}"#, "forbidden"),
    ])
    func `a vendor in JSON gets its license`(_ status: Int, _ body: String, _ refusal: String?) async throws {
        let certificate = #"{"certificate":"\#(SampleBytes.certificate.base64EncodedString())"}"#
        let transport = FakeTransport(
            get: [.ok(Data(certificate.utf8))], post: [.reply(HTTPReply(status: status, body: Data(body.utf8)))])
        let loader = ContentKeyLoader(
            try Vendors.lantern(), credentials: .token { "token of \($0.asset?.description ?? "")" },
            transport: transport, timekeeper: ManualTimekeeper())
        let (answer, sent) = await answer(loader, "skd://lantern.example/film?kid=abc", transport)
        #expect(sent?.url?.absoluteString == "https://drm.lantern.example/fps/abc")
        #expect(sent?.value(forHTTPHeaderField: "X-Lantern") == "token of movie-1")
        switch answer {
        case .success(let ckc): #expect(ckc == SampleBytes.ckc() && refusal == nil)
        case .failure(let error): #expect(error.code == refusal)
        }
    }

    @Test(arguments: [
        (200, #"{"ckc":"\#(ckc)","seconds":600}"#, nil), (429, #"{"err":{"code":"B7"}}"#, "concurrencyLimit"),
    ])
    func `a vendor in code signs its requests`(_ status: Int, _ body: String, _ refusal: String?) async throws {
        let transport = FakeTransport(
            get: [.ok(SampleBytes.certificate)], post: [.reply(HTTPReply(status: status, body: Data(body.utf8)))])
        let beacon = BeaconKeys(
            certificateURL: URL(string: "https://beacon.example/cert"),
            licenseURL: URL(string: "https://beacon.example/fps"), entitlement: { "entitled: \($0)" },
            sign: { "\($0.count) bytes" })
        let loader = ContentKeyLoader(
            beacon, credentials: .fixed(.token("user")), transport: transport, timekeeper: ManualTimekeeper())
        let (answer, sent) = await answer(loader, "skd://beacon.example/films/movie-1", transport)
        #expect(sent?.value(forHTTPHeaderField: "x-entitlement") == "entitled: user")
        #expect(sent?.value(forHTTPHeaderField: "x-signature") == "\(sent?.httpBody?.count ?? 0) bytes")
        switch answer {
        case .success(let ckc): #expect(ckc == SampleBytes.ckc() && refusal == nil)
        case .failure(let error): #expect(error.code == refusal)
        }
    }
}
