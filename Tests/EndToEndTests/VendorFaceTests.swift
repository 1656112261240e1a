import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeySimulation
import LatchkeyVendors
import Testing

@testable import LatchkeyOperation
@testable import LatchkeyPolicy
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyServices

/// Apps that speak to a vendor, pointed at the production server unchanged.
@Suite(.serialized, .timeLimit(.minutes(5))) struct VendorFaceTests {
    /// Asks for the demo asset's video key through the client's profile of the vendor.
    private func key(
        _ face: FaceUnderTest, _ stage: ServerStage, device: UInt8 = 1, _ order: FaceUnderTest.Order = .init(),
        token: Secret? = nil
    ) async throws -> StreamReport.Key {
        let video = try #require(stage.keys["video"])
        var order = order
        order.contents = ["video": video]
        let ordered = order
        let loader = stage.loader(face.profile, face.settings(stage.tenant)) { try token ?? face.token(ordered) }
        return await stage.player(loader, device: device).key(KeyURI(face.keyURI("video", video)))
    }

    private func with(
        _ face: FaceUnderTest, policy: String = "{}", _ body: (ServerStage) async throws -> Void
    ) async throws {
        try await ServerStage.with(faces: face.faces, secrets: face.secrets, policy: policy, body)
    }

    private func error(_ key: StreamReport.Key) throws -> ContentKeyError {
        try #require(#expect(throws: ContentKeyError.self) { try key.outcome.get() })
    }

    @Test(arguments: FaceUnderTest.all)
    func `the client's profile gets the key by the tenant's policy`(_ face: FaceUnderTest) async throws {
        try await with(face) { stage in
            let answer = try await key(face, stage)
            #expect(try answer.outcome.get().contentKey == stage.keys["video"]?.content)
            // The policy's lease; DoveRunner's token states a shorter one.
            let lease: Duration = face.profile == .doveRunner ? .seconds(120) : .seconds(300)
            #expect(try answer.outcome.get().terms.lease == lease)
        }
    }

    @Test(arguments: FaceUnderTest.all)
    func `a viewer at another place is refused in the vendor's form`(_ face: FaceUnderTest) async throws {
        try await with(face, policy: #"{"place":{"allow":["DE"],"whenUnknown":"refuse"}}"#) { stage in
            let error = try error(await key(face, stage))
            #expect(error.kind == (face.profile == .axinom ? .invalidRequest : .forbidden))
            let code = ["doverunner": "7012", "drmtoday": "20101"][face.profile.identifier]
            if let code { #expect(error.service?.code == code) }
        }
    }

    @Test(arguments: FaceUnderTest.all)
    func `a second stream of an account that may have one is refused`(_ face: FaceUnderTest) async throws {
        let policy = #"{"concurrency":{"scope":"account","limit":1,"mode":"refuseNewest","grace":"20s"}}"#
        try await with(face, policy: policy) { stage in
            _ = try await key(face, stage, device: 1, .init(session: "s-1")).outcome.get()
            _ = try error(await key(face, stage, device: 2, .init(session: "s-2")))
            // Another account plays.
            _ = try await key(face, stage, device: 3, .init(viewer: "bob", session: "s-3")).outcome.get()
        }
    }

    @Test(arguments: FaceUnderTest.all)
    func `a token that somebody else signed is refused`(_ face: FaceUnderTest) async throws {
        try await with(face) { stage in
            let error = try error(await key(face, stage, .init(isForged: true)))
            #expect(error.kind == face.forged.kind)
            if let code = face.forged.code { #expect(error.service?.code == code) }
        }
    }

    @Test(arguments: FaceUnderTest.all)
    func `a token that is too old is refused`(_ face: FaceUnderTest) async throws {
        try await with(face) { stage in
            let error = try error(await key(face, stage, .init(age: 700)))
            #expect(error.kind == (face.profile == .axinom ? .invalidRequest : .unauthenticated))
        }
    }

    /// Axinom's messages may be used again.
    @Test(arguments: FaceUnderTest.all.filter { $0.profile != .axinom })
    func `a token that was used is refused where it is for one use`(_ face: FaceUnderTest) async throws {
        // VuDRM's is for one license; the others' is for one session, which policy keeps short.
        try await with(face, policy: #"{"token":{"reuse":"0s"}}"#) { stage in
            let video = try #require(stage.keys["video"])
            let token = try face.token(.init(contents: ["video": video]))
            _ = try await key(face, stage, token: token).outcome.get()
            _ = try error(await key(face, stage, token: token))
        }
    }

    @Test func `what players are refused is counted and explained by the vendor's name`() async throws {
        let face = try #require(FaceUnderTest.all.first)
        try await with(face, policy: #"{"blocked":{"users":["ann"]}}"#) { stage in
            let id = try #require(try error(await key(face, stage)).service?.requestID)
            let record = try #require(stage.server.shared.decisions.record(of: id, at: "demo"))
            #expect(record.facts.grant.account == "ann")
            let metrics = stage.server.shared.metrics.text(.prometheus)
            #expect(metrics.contains(#"face="vudrm""#))
        }
    }
}
