import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendorWire
@_spi(Adapters) import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import TestServers

/// Apps that speak to a vendor whose tokens only the vendor makes, pointed at the production server unchanged, with the tenant's tokens.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TenantTokenAPITests {
    /// The profiles of those vendors.
    static let profiles = VendorProfile.all.filter { name(of: $0) != nil }

    private static let id = "11111111-2222-3333-4444-555555555555"

    private static func name(of profile: VendorProfile) -> VendorAPIName? {
        VendorAPIKind.all.filter(\.takesTenantTokens).map(\.name)
            .filter { profile.identifier == $0.rawValue || profile.identifier.hasPrefix("\($0.rawValue)-") }
            .max { $0.rawValue.count < $1.rawValue.count }
    }

    private struct App {
        let stage: StreamingServer
        let profile: VendorProfile
        let service: any VendorService
        let settings: [String: String]

        /// - Parameters:
        ///   - policy: in place of members of the demo's policy.
        ///   - callout: the address of the tenant's own service.
        init(_ profile: VendorProfile, policy: String = "{}", callout: String? = nil) async throws {
            let name = try #require(TenantTokenAPITests.name(of: profile)).rawValue
            stage = try await StreamingServer(vendors: #"{"\#(name)":{}}"#, policy: policy, callout: callout)
            self.profile = profile
            let authority = LicenseAuthority(
                module: stage.server.current.licensee.module, keys: ContentKeyStore(Array(stage.keys.values)))
            service = try #require(
                VendorServices.service(ServiceIdentifier(rawValue: name), in: ServiceEnvironment(authority: authority)))
            let names = profile.parameters.map(\.name)
            // The server counts streams itself, so that apps set no address of NAGRA's sessions.
            settings = service.parameters(at: "\(stage.tenant)/\(name)")
                .filter { names.contains($0.key) && $0.key != "sessionURL" }
        }

        func key(
            device: UInt8 = 1, uri stated: String? = nil, purpose: KeyPurpose = .streaming,
            token: @escaping @Sendable () throws -> Secret
        ) async throws -> StreamReport.Key {
            let video = try #require(stage.keys["video"])
            let address = String(stage.tenant.trimmingPrefix("http://"))
            var (settings, uri) = (settings, stated ?? service.keyURI(for: video, at: address))
            // Players that send no token get an address with it: the license address, or else the key URI.
            if !profile.credentialNames.contains("token") {
                let text = try token().revealedText
                settings["licenseURL"]? += "?token=\(text)"
                uri = uri.replacing(/ExpressPlayToken=[^&]*/, with: "ExpressPlayToken=\(text)")
                if profile.identifier.hasPrefix("uplynk") { uri += "&token=\(text)" }
            }
            let rights = "\(stage.tenant)/expressplay/hms/fp/rights/?ExpressPlayToken=\(try token().revealedText)"
            let (document, isDelivered) = (delivery(of: video), settings["deliveryURL"] != nil)
            let host = HTTPServer { isDelivered ? document($0) : Self.tokenURL(rights, for: $0) }
            let port = try host.start()
            for name in ["deliveryURL", "entitlementURL", "tokenServerURL"] where settings[name] != nil {
                settings[name] = "http://127.0.0.1:\(port)/"
            }
            let loader = stage.loader(profile, settings, token: token)
            let key = await stage.player(loader, device: device).key(KeyURI(uri), purpose: purpose)
            await host.stop(within: .zero)
            return key
        }

        /// The answer of an ExpressPlay app's own server: a token URL with the tenant's token.
        @Sendable private static func tokenURL(_ rights: String, for request: HTTPRequest) -> HTTPResponse {
            let body = JSONValue(request.body)
            let url = "\(rights)&cid=\(request.queryValue("contentId") ?? body?["contentID"]?.text ?? "")"
            guard let message = body?["messageID"] else {
                return HTTPResponse(contentType: "text/uri-list", bytes: Data(url.utf8))
            }
            return .json([
                "messageID": message, "version": .number(1), "isAllowed": .flag(true), "epTokenURL": .text(url),
            ])
        }

        /// JW Platform's delivery document, which names the playlist, too, and so comes from the tenant's own server: with the license
        /// server's addresses, the viewer's token and the content.
        private func delivery(of key: StoredKey) -> @Sendable (HTTPRequest) -> HTTPResponse {
            { [base = "\(stage.tenant)/jw-platform/fairplay"] request in
                let query = "token=\(request.queryValue("token") ?? "")&content=\(key.id)"
                let fairPlay: JSONValue = [
                    "certificateUrl": .text("\(base)/application-certificate"),
                    "processSpcUrl": .text("\(base)/process-spc?\(query)"),
                ]
                return .json(["playlist": [["sources": [["drm": ["fairplay": fairPlay]]]]]])
            }
        }
    }

    @Test(arguments: profiles)
    func `the client's profile gets the key for the tenant's token, by the tenant's policy`(
        _ profile: VendorProfile
    ) async throws {
        let app = try await App(
            profile, policy: #"{"concurrency":{"scope":"account","limit":1,"mode":"refuseNewest","grace":"20s"}}"#)
        let token = try app.stage.token()
        for purpose in [KeyPurpose.streaming, .renewal] {
            let key = try await app.key(purpose: purpose) { token }.outcome.get()
            #expect(key.contentKey == app.stage.keys["video"]?.content && key.terms.lease == .seconds(300))
        }
        // The account of the token may have one stream; another account's plays.
        let second = try await app.key(device: 2) { try app.stage.token() }
        #expect(throws: ContentKeyError.self) { try second.outcome.get() }
        _ = try await app.key(device: 3) { try app.stage.token("bob") }.outcome.get()
    }

    @Test(arguments: profiles)
    func `an invalid tenant token gets no key`(_ profile: VendorProfile) async throws {
        let app = try await App(profile)
        for token in [app.service.demoToken(), Secret("nothing")] {
            let key = try await app.key { token }
            #expect(throws: ContentKeyError.self) { try key.outcome.get() }
        }
    }

    @Test(
        arguments: [
            .anvato, .brightcove, .bunnyStream, .comcast, .genericForm, .gumlet, .kalturaWeb, .mux, .muxWeb, .naver,
            .sigma, .sigmaForm,
        ] as [VendorProfile])
    func `a key URI with content and key also names the key`(_ profile: VendorProfile) async throws {
        let app = try await App(profile)
        let video = try #require(app.stage.keys["video"])
        // Sigma's has it in the query.
        let isSigma = profile.identifier.hasPrefix("sigma")
        let uri = isSigma ? "skd://h?assetId=video&keyId=\(video.id)" : "skd://video/\(video.id)"
        let key = try await app.key(uri: uri) { try app.stage.token() }
        #expect(try key.outcome.get().contentKey == video.content)
    }

    @Test(arguments: [true, false])
    func `a key that the app stores is a download by the tenant's policy`(_ isAllowed: Bool) async throws {
        let app = try await App(.brightcove, policy: #"{"download":{"allow":\#(isAllowed)}}"#)
        let key = try await app.key(purpose: .persistable) { try app.stage.token() }
        #expect((try? key.outcome.get().terms.isPersistable) == (isAllowed ? true : nil))
    }

    @Test func `the tenant's own service is called too`() async throws {
        let own = HTTPServer { _ in HTTPResponse(status: 403) }
        let app = try await App(.ezdrmCustomData, callout: "http://127.0.0.1:\(try own.start())/")
        let key = try await app.key { try app.stage.token() }
        let error = #expect(throws: ContentKeyError.self) { try key.outcome.get() }
        #expect(error?.description.contains("notEntitled") == true)
        await own.stop(within: .zero)
    }

    @Test(
        arguments: [
            ("cloud-drm/acquire-license/fairplay?KID=\(id)&BrandGuid=\(id)", #""code":"drm_3036""#),
            ("cloud-drm/acquire-license/fairplay?KID=\(id)&BrandGuid=\(id)", #""requestId":"a-request""#),
            ("expressplay/hms/fp/rights/?errorFormat=json", #""errorCode":-4010"#),
            ("expressplay/hms/fp/rights/", "Error -4010"),
        ])
    func `a refusal has the form that its request asks for`(_ path: String, _ part: String) async throws {
        let stage = try await StreamingServer(vendors: #"{"cloud-drm":{},"expressplay":{}}"#)
        let reply = try await stage.test.player(
            path, "POST", body: Data([1]),
            headers: ["Content-Type": "application/octet-stream", "X-Request-Id": "a-request"])
        #expect(reply.status >= 400 && reply.text.contains(part), "\(reply.text)")
    }

    @Test func `the page has exactly the addresses of each vendor`() async throws {
        let kinds = VendorAPIKind.all.filter(\.takesTenantTokens)
        let vendors = kinds.map { #""\#($0.name.rawValue)":{}"# }.joined(separator: ",")
        let stage = try await StreamingServer(vendors: "{\(vendors)}")
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/Vendors/Latchkey.md")
        let told = Set(
            try String(contentsOf: file, encoding: .utf8).matches(of: /`(\/[a-z-]+\/[^`?]+)/).map {
                String($0.output.1).replacing(/<[^>]+>/, with: "{}")
            })
        let routes = stage.server.current.vendors.routes.map { _, base, route in
            let address = String(base.trimmingPrefix("/t/demo")) + route.path.text
            return (address: address.replacing(/\{[^}]+\}/, with: "{}"), kind: route.handler)
        }
        for kind in kinds {
            let own = { (address: String) in address.hasPrefix("/\(kind.name.rawValue)/") }
            for endpoint in [VendorEndpoint.certificate, .license] {
                let there = routes.filter { own($0.address) && $0.kind == endpoint }.map(\.address)
                #expect(!told.isDisjoint(with: there), "\(kind.name.rawValue): \(endpoint)")
            }
            #expect(told.filter(own).subtracting(routes.map(\.address)) == [])
        }
    }
}
