import Foundation
import Latchkey
import LatchkeyDevice
import LatchkeySimulation
import LatchkeyVendors
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyServices
@testable import TestServers

/// Apps that speak to a vendor, pointed at the production server unchanged.
@Suite(.serialized, .timeLimit(.minutes(5))) struct VendorAPITests {
    /// Asks for the demo asset's video key through the client's profile of the vendor.
    private func key(
        _ api: APIUnderTest, _ stage: StreamingServer, device: UInt8 = 1, _ order: APIUnderTest.Order = .init(),
        token: Secret? = nil
    ) async throws -> StreamReport.Key {
        let video = try #require(stage.keys["video"])
        var order = order
        order.contents = ["video": video]
        let ordered = order
        let loader = stage.loader(api.profile, api.settings(stage.tenant)) { try token ?? api.token(ordered) }
        return await stage.player(loader, device: device).key(KeyURI(api.keyURI("video", video)))
    }

    private func server(_ api: APIUnderTest, policy: String = "{}") async throws -> StreamingServer {
        try await StreamingServer(vendors: api.vendors, secrets: api.secrets, policy: policy)
    }

    private func error(_ key: StreamReport.Key) throws -> ContentKeyError {
        try #require(#expect(throws: ContentKeyError.self) { try key.outcome.get() })
    }

    @Test(arguments: APIUnderTest.all)
    func `the client's profile gets the key by the tenant's policy`(_ api: APIUnderTest) async throws {
        let stage = try await server(api)
        let answer = try await key(api, stage)
        #expect(try answer.outcome.get().contentKey == stage.keys["video"]?.content)
        // The policy's lease; DoveRunner's token states a shorter one.
        let lease: Duration = api.profile == .doveRunner ? .seconds(120) : .seconds(300)
        #expect(try answer.outcome.get().terms.lease == lease)
    }

    @Test(arguments: APIUnderTest.all)
    func `a viewer at another place is refused in the vendor's form`(_ api: APIUnderTest) async throws {
        let stage = try await server(api, policy: #"{"place":{"allow":["DE"],"whenUnknown":"refuse"}}"#)
        let error = try error(await key(api, stage))
        #expect(error.kind == .forbidden)
        let code = ["doverunner": "7012", "drmtoday": "20101"][api.profile.identifier]
        if let code { #expect(error.service?.code == code) }
    }

    @Test(arguments: APIUnderTest.all)
    func `a second stream on a one-stream account is refused`(_ api: APIUnderTest) async throws {
        let policy = #"{"concurrency":{"scope":"account","limit":1,"mode":"refuseNewest","grace":"20s"}}"#
        let stage = try await server(api, policy: policy)
        _ = try await key(api, stage, device: 1, .init(session: "s-1")).outcome.get()
        _ = try error(await key(api, stage, device: 2, .init(session: "s-2")))
        // Another account plays.
        _ = try await key(api, stage, device: 3, .init(viewer: "bob", session: "s-3")).outcome.get()
    }

    @Test(arguments: APIUnderTest.all)
    func `a token with another signer is refused`(_ api: APIUnderTest) async throws {
        let stage = try await server(api)
        let error = try error(await key(api, stage, .init(isForged: true)))
        #expect(error.kind == api.forged.kind)
        if let code = api.forged.code { #expect(error.service?.code == code) }
    }

    @Test(arguments: APIUnderTest.all)
    func `an expired token is refused`(_ api: APIUnderTest) async throws {
        let stage = try await server(api)
        let error = try error(await key(api, stage, .init(age: 700)))
        #expect(error.kind == (api.profile == .axinom ? .invalidRequest : .unauthenticated))
    }

    /// Axinom's messages may be used again.
    @Test(arguments: APIUnderTest.all.filter { $0.profile != .axinom })
    func `a reused single-use token is refused`(_ api: APIUnderTest) async throws {
        // VuDRM's is for one license; the others' is for one session, which policy keeps short.
        let stage = try await server(api, policy: #"{"token":{"reuse":"0s"}}"#)
        let video = try #require(stage.keys["video"])
        let token = try api.token(.init(contents: ["video": video]))
        _ = try await key(api, stage, token: token).outcome.get()
        _ = try error(await key(api, stage, token: token))
    }

    @Test func `players' refusals are counted and explained by the vendor's name`() async throws {
        let api = try #require(APIUnderTest.all.first)
        let stage = try await server(api, policy: #"{"blocked":{"users":["ann"]}}"#)
        let id = try #require(try error(await key(api, stage)).service?.requestID)
        let record = try #require(stage.server.shared.decisions.record(of: id, at: "demo"))
        #expect(record.facts.grant.account == "ann")
        let metrics = stage.server.shared.metrics.text(.prometheus)
        #expect(metrics.contains(#"endpoint="vudrm""#))
    }
}
