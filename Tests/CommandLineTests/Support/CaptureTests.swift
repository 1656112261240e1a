import Foundation
import Latchkey
import LatchkeySupport
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyCore
@testable import LatchkeyTerminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `latchkey capture` and `latchkey replay`, with the emulated services of this process.
@Suite(.timeLimit(.minutes(5))) struct CaptureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Uses the services of this process, except for answers that a test gives itself.
    private struct Refusing: Transport {
        let base = SystemTransport()
        let answer: @Sendable (URLRequest) -> HTTPReply?

        func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
            if let reply = answer(request) { return reply }
            return try await base.send(request, bodyLimit: bodyLimit)
        }
    }

    private static func setting(
        _ profile: VendorProfile, _ answer: @escaping @Sendable (URLRequest) -> HTTPReply?
    ) throws -> PlaySetting {
        try .builtIn(profile, terms: LicenseTerms(.unlimited), over: Refusing(answer: answer)) {
            let names = Set(profile.parameters.map(\.name))
            return try profile.configured($0.filter { names.contains($0.key) })
        }
    }

    @Test(arguments: [VendorProfile.vuDRM, .axinom, .expressPlay, .nagra])
    func `a refused license is captured, and refused again`(_ profile: VendorProfile) async throws {
        let setting = try Self.setting(profile) { request in
            request.httpMethod == "POST" ? HTTPReply(status: 403, body: Data("{\"message\":\"no\"}".utf8)) : nil
        }
        let outcome = try await Capture(setting: setting).outcome()
        await setting.close()
        #expect(outcome.failure?.code == "forbidden")
        let bundle = try SupportBundle(outcome.bundle)
        let replayed = try await Replay(bundle: bundle).outcome()
        #expect(replayed.isSame && replayed.stage == outcome.failure?.stage)
    }

    @Test func `a missing playlist is captured, and is missing again`() async throws {
        let setting = try Self.setting(.vuDRM) { request in
            request.url?.pathExtension == "m3u8" ? HTTPReply(status: 404) : nil
        }
        let outcome = try await Capture(setting: setting).outcome()
        await setting.close()
        #expect(outcome.failure?.code == "httpStatus")
        let replayed = try await Replay(bundle: SupportBundle(outcome.bundle)).outcome()
        #expect(replayed.isSame && replayed.stage == "playlist")
    }

    @Test func `a stream that plays is captured by its keys and replays without an error`() async throws {
        let file = folder.path("bundle.zip")
        let run = await RecordedRun("capture", "--vendor", "vudrm", "--out", file, "--json")
        #expect(run.status == .yes, "\(run.error)")
        #expect(run.json["replays"] as? Bool == true)
        let replay = await RecordedRun("replay", file)
        #expect(replay.status == .yes && replay.output.contains("no error, as captured"))
        let again = await RecordedRun("capture", "--vendor", "vudrm", "--out", file)
        #expect(again.status == .no && again.error.contains("--force"))
    }

    @Test func `without a decoder a capture and its exit code call the picture unknown`()
        async throws
    {
        let setting = try Self.setting(.vuDRM) { _ in nil }
        let outcome = try await Capture(setting: setting, decoder: nil).outcome()
        await setting.close()
        #expect(outcome.failure == nil && outcome.isRight == nil)
        let report = try await CaptureReport(outcome, file: "bundle.zip")
        #expect(report.status == .unknown && report.text.contains("nothing was decoded"), "\(report.text)")
        #expect(report.text.contains("every key came") && !report.text.contains("played"))
    }

    @Test func `a bundle without key requests replays as untested`() async throws {
        let setting = try Self.setting(.vuDRM) { request in
            request.url?.pathExtension == "m3u8" ? HTTPReply(status: 200, body: Data(Self.clear.utf8)) : nil
        }
        let outcome = try await Capture(setting: setting, decoder: nil).outcome()
        await setting.close()
        let report = try await CaptureReport(outcome, file: "bundle.zip")
        #expect(report.status == .unknown && report.text.contains("no key was requested"), "\(report.text)")
        let replay = await RecordedRun(["replay", "-"], tool: .standard, input: outcome.bundle)
        #expect(replay.status == .unknown && replay.output.contains("nothing was tried"), "\(replay.output)")
    }

    private static let clear = """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXTINF:6,
        s1.ts
        #EXT-X-ENDLIST

        """

    @Test(arguments: [("9f8c6f3a-1b2c-4d5e-8f90-a1b2c3d4e5f6", true), ("REQ-17", false)])
    func `a replay names a request id that is not the service's`(id: String, isReplaced: Bool) async throws {
        let setting = try Self.setting(.vuDRM) { request in
            guard request.httpMethod == "POST" else { return nil }
            return HTTPReply(status: 403, headers: [("x-request-id", id)], body: Data("{\"message\":\"no\"}".utf8))
        }
        let outcome = try await Capture(setting: setting).outcome()
        await setting.close()
        let replay = await RecordedRun(["replay", "-"], tool: .standard, input: outcome.bundle)
        #expect(replay.status == .yes && replay.output.contains("(request "), "\(replay.output)")
        #expect(replay.output.contains("replaces the real one") == isReplaced, "\(replay.output)")
    }

    @Test func `a capture reports its file, unless the bundle goes to standard output`() async throws {
        let file = folder.path("bundle.zip")
        let told = await RecordedRun("capture", "--vendor", "vudrm", "--out", file)
        #expect(told.output.contains("latchkey replay \(file)"), "\(told.output)")
        let piped = await RecordedRun("capture", "--vendor", "vudrm", "--out", "-")
        #expect(piped.output.hasPrefix("PK") && !piped.output.contains("latchkey replay - "))
    }

    @Test(arguments: [Data(), Data("PK".utf8), Data(count: 100), Data("{}".utf8)])
    func `a non-bundle is refused with a remedy`(_ data: Data) async throws {
        let run = await RecordedRun(["replay", "-", "--json"], tool: .standard, input: data)
        #expect(run.status == .no && run.errorCode == "zipMalformed")
    }
}
