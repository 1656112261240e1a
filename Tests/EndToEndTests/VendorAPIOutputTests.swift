import Foundation
import Latchkey
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeySimulation
import LatchkeyVendors
import Testing

@testable import LatchkeyServerTool
@testable import LatchkeyServices
@testable import TestServers

/// The outputs that vendors' tokens allow, on the production server. The sources of each rule are with its reader.
@Suite(.serialized, .timeLimit(.minutes(5))) struct VendorAPIOutputTests {
    private func key(
        _ api: APIUnderTest, _ stage: StreamingServer, _ outputs: String, named name: String = "video",
        of keyName: String? = nil, to destination: StreamingDestination = .device
    ) async throws -> StreamReport.Key {
        let wanted = try #require(stage.keys[keyName ?? name])
        // Another viewer each time: DoveRunner's tokens within one second are otherwise the same, and good for one session.
        let order = APIUnderTest.Order(viewer: "\(UUID())", contents: stage.keys, outputs: outputs)
        let loader = stage.loader(api.profile, api.settings(stage.tenant)) { try api.token(order) }
        let player = destination == .device ? stage.player(loader) : stage.player(loader).joining(destination)
        return await player.key(KeyURI(api.keyURI(name, wanted)))
    }

    private func server(_ api: APIUnderTest, _ policy: String = "{}") async throws -> StreamingServer {
        try await StreamingServer(vendors: api.vendors, secrets: api.secrets, policy: policy)
    }

    private func error(_ key: StreamReport.Key) throws -> ContentKeyError {
        try #require(#expect(throws: ContentKeyError.self) { try key.outcome.get() })
    }

    private static let hdcp: [(APIUnderTest, String, String, HDCPRequirement?)] = [
        (.axinom, #"{"hdcp":"TYPE1_STRICT"}"#, "{}", .type1), (.axinom, #"{"hdcp":"NONE"}"#, "{}", nil),
        (.axinom, #"{"hdcp":"TYPE0"}"#, #"{"output":{"hdcp":{"ALL":"type1"}}}"#, .type1),
        (
            .doveRunner, #""security_policy":[{"track_type":"HD","fairplay":{"hdcp_enforcement":1}}]"#,
            #"{"output":{"hdcp":{"ALL":"notRequired"}}}"#, .type1
        ),
        (
            .doveRunner, #""security_policy":[{"fairplay":{"hdcp_enforcement":-1}}]"#,
            #"{"output":{"hdcp":{"ALL":"type0"}}}"#, .type0
        ),
        (
            .drmToday, #""outputProtection":{"digital":true,"analogue":true,"enforce":true}"#,
            #"{"output":{"hdcp":{"ALL":"notRequired"}}}"#, .type0
        ),
        (
            .drmToday, #""outputProtection":{"digital":false,"analogue":false,"enforce":false}"#,
            #"{"output":{"hdcp":{"ALL":"type1"}}}"#, .type1
        ),
    ]

    @Test(arguments: hdcp.indices) func `a license needs the stricter HDCP of policy and token`(
        _ index: Int
    ) async throws {
        let (api, outputs, policy, expected) = Self.hdcp[index]
        let stage = try await server(api, policy)
        let license = try await key(api, stage, outputs).outcome.get()
        #expect(license.terms.hdcp == expected)
    }

    @Test(arguments: [
        (APIUnderTest.axinom, #"{"allow_airplay":false}"#),
        (.doveRunner, #""security_policy":[{"track_type":"ALL_VIDEO","fairplay":{"allow_airplay":false}}]"#),
    ])
    func `a key barred from AirPlay is refused there, and plays elsewhere`(
        _ api: APIUnderTest, _ outputs: String
    ) async throws {
        let stage = try await server(api)
        _ = try error(await key(api, stage, outputs, to: .airPlay))
        _ = try await key(api, stage, outputs, to: .digitalAVAdapter).outcome.get()
        _ = try await key(api, stage, outputs).outcome.get()
        _ = try await key(api, stage, "", to: .airPlay).outcome.get()
    }

    @Test func `only the key whose usage policy cannot be met is omitted`() async throws {
        let rules = #"{"allow_airplay":false,"allow_av_adapter":false}"#
        let stage = try await server(.axinom)
        _ = try error(await key(.axinom, stage, rules, to: .digitalAVAdapter))
        _ = try await key(.axinom, stage, rules, named: "audio", to: .digitalAVAdapter).outcome.get()
    }

    @Test func `a token that permits all outputs does not widen the policy`() async throws {
        let rules = #"{"hdcp":"NONE","allow_airplay":true,"allow_av_adapter":true}"#
        let stage = try await server(.axinom, #"{"output":{"airPlay":"refuse"}}"#)
        _ = try error(await key(.axinom, stage, rules, to: .airPlay))
    }

    @Test(
        arguments: [
            (APIUnderTest.axinom, #"{"hdcp":"TYPE9"}"#, nil),
            (.doveRunner, #""security_policy":[{"fairplay":{"hdcp_enforcement":9}}]"#, "7009"),
            (.doveRunner, #""security_policy":{}"#, "7009"), (.drmToday, #""op":{}"#, "3000"),
        ] as [(APIUnderTest, String, String?)])
    func `an unknown rule is refused in the vendor's form`(
        _ api: APIUnderTest, _ outputs: String, _ code: String?
    ) async throws {
        let stage = try await server(api)
        let error = try error(await key(api, stage, outputs))
        if let code { #expect(error.service?.code == code) }
    }

    @Test func `an output refusal has DRMtoday's code`() async throws {
        let stage = try await server(.drmToday, #"{"output":{"airPlay":"refuse"}}"#)
        let error = try error(await key(.drmToday, stage, "", to: .airPlay))
        #expect(error.service?.code == "70001")
    }

    @Test func `DoveRunner's keys in the token are compared with the server's`() async throws {
        let stage = try await server(.doveRunner)
        let video = try #require(stage.keys["video"]).content
        let hex = { (secret: Secret) in secret.withUnsafeBytes { $0.hexString } }
        let external = { (key: Secret) in
            #""external_key":{"hls_aes":[{"track_type":"ALL_VIDEO","key":"\#(hex(key))","iv":"\#(hex(video.iv))"}]}"#
        }
        _ = try await key(.doveRunner, stage, external(video.key)).outcome.get()
        let other = external(Secret([UInt8](repeating: 7, count: 16)))
        let error = try error(await key(.doveRunner, stage, other))
        #expect(error.service?.code == "7308")
    }

    @Test func `DRMtoday's rental limits the lease`() async throws {
        let stage = try await server(.drmToday)
        let rental = #""profile":{"rental":{"playDuration":60000}}"#
        let license = try await key(.drmToday, stage, rental).outcome.get()
        #expect(license.terms.lease == .seconds(60))
        let over = #""profile":{"rental":{"absoluteExpiration":"2020-01-01T00:00:00.000Z"}}"#
        let error = try error(await key(.drmToday, stage, over))
        #expect(error.service?.code == "20101")
    }

    /// The store finds a key by its kid alone, so that the asset has to be compared.
    @Test func `a DRMtoday token for one asset opens no other asset's key`() async throws {
        let stage = try await server(.drmToday)
        let error = try error(await key(.drmToday, stage, "", named: "video", of: "audio"))
        #expect(error.service?.code == "20101")
    }
}
