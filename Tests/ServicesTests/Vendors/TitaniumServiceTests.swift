import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct TitaniumServiceTests {
    private static let id = Stage.videoKeyID
    private static let device = #"{"DeviceType":"iPhone","DRMType":"FairPlay"}"#
    /// The device data as documented.
    private static let cdata = """
        {"LatensRegistration":{"CustomerName":"c","AccountName":"a","PortalId":"p","FriendlyName":"f","AppVersion":"1.0",\
        "DeviceInfo":{"FormatVersion":"1","DeviceType":"iPhone","OSType":"iOS","OSVersion":"17.0","DRMProvider":"Apple",\
        "DRMVersion":"1.0","DRMType":"Fairplay","DeviceVendor":"Apple","DeviceModel":"iPhone"}}}
        """

    @Test func `the certificate comes from its URL and with the parameters`() async throws {
        try await withService(TitaniumService.init) { stage in
            let reply = try await stage.send("GET", "/titanium/certificate.cer")
            #expect(reply.body == Stage.certificate)
            let parameters = stage.service.parameters(at: "http://h/titanium")
            #expect(parameters["certificate"] == Stage.certificate.base64EncodedString())
            #expect(
                parameters.keys.sorted() == [
                    "accountName", "certificate", "certificateURL", "customerName", "friendlyName", "licenseURL",
                    "portalId",
                ])
            #expect(stage.keyURI.raw == "skd://\(Self.id)")
        }
    }

    @Test(arguments: [id, "skd://\(id)", "skd://host/path/\(id)"])
    func `a token gets a raw CKC`(_ identifier: String) async throws {
        try await withService(TitaniumService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let token = "Bearer \(stage.service.demoToken().revealedText)"
            let reply = try await stage.license(exchange.spc.revealed, ["Authorization": token])
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test(arguments: [
        (cdata, []), (cdata.replacing("DeviceType", with: "varDeviceType"), ["varDeviceType"]),
        (cdata.replacing(#""FriendlyName":"f","#, with: ""), []),
    ])
    func `device data get a raw CKC`(_ json: String, _ warnings: [String]) async throws {
        try await withService(TitaniumService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(exchange.spc.revealed, device: json)
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings == warnings)
        }
    }

    @Test func `the token wins over device data`() async throws {
        try await withService(TitaniumService.init) { stage in
            let spc = try stage.exchange(Self.id).spc.revealed
            let headers = [
                "Authorization": "Bearer bad", "X-TITANIUM-DRM-CDATA": Data(Self.cdata.utf8).base64EncodedString(),
            ]
            let reply = try await stage.license(spc, headers)
            #expect(reply.status == 401)
            #expect(stage.warnings == ["twoCredentials"])
        }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"LatensRegistration":{}}"#,
        #"{"LatensRegistration":{"CustomerName":"c","AccountName":"a","PortalId":"","DeviceInfo":\#(device)}}"#,
        #"{"LatensRegistration":{"CustomerName":"c","AccountName":"a","PortalId":"p"}}"#,
        cdata.replacing("Fairplay", with: "Widevine"), cdata.replacing("DeviceType", with: "Type"),
        cdata.replacing("CustomerName", with: "Name"),
    ])
    func `device data that lack something are refused`(_ json: String) async throws {
        try await withService(TitaniumService.init) { stage in
            let reply = try await stage.license(try stage.exchange(Self.id).spc.revealed, device: json)
            #expect(reply.status == 401)
            #expect(reply.code == (json.isEmpty ? "tokenMissing" : "tokenMalformed"))
        }
    }

    @Test(arguments: [
        ([:], 401, "tokenMissing"), (["Authorization": "x"], 401, "tokenMalformed"),
        (["Authorization": "Bearer \(jwt(#"{"exp":1}"#))"], 401, "tokenExpired"),
        (["X-TITANIUM-DRM-CDATA": "?"], 400, "malformedRequest"),
        (["Authorization": "Bearer \(jwt("{}"))", "Content-Type": "text/plain"], 415, "mediaType"),
    ])
    func `a request that is wrong in one thing`(
        _ headers: [String: String], _ status: Int, _ code: String
    ) async throws {
        try await withService(TitaniumService.init) { stage in
            let reply = try await stage.license(try stage.exchange(Self.id).spc.revealed, headers)
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }

    @Test(arguments: [("c", 200), ("other", 403)])
    func `a configured customer is the only one`(_ name: String, _ status: Int) async throws {
        try await withService(TitaniumService.init, { $0.customerName = name }) { stage in
            let reply = try await stage.license(try stage.exchange(Self.id).spc.revealed, device: Self.cdata)
            #expect(reply.status == status)
        }
    }

    @Test func `a content identifier that names no key is refused`() async throws {
        try await withService(TitaniumService.init) { stage in
            let reply = try await stage.license(try stage.exchange("skd://nothing").spc.revealed, device: Self.cdata)
            #expect(reply.status == 404)
            #expect(reply.code == "unknownKey")
        }
    }
}

extension ServiceStage<TitaniumService> {
    fileprivate func license(_ spc: Data, _ headers: [String: String]) async throws -> Reply {
        let type = ["Content-Type": "application/octet-stream"]
        return try await send("POST", "/titanium/license", type.merging(headers) { $1 }, spc)
    }

    fileprivate func license(_ spc: Data, device json: String) async throws -> Reply {
        try await license(spc, ["X-TITANIUM-DRM-CDATA": Data(json.utf8).base64EncodedString()])
    }
}
