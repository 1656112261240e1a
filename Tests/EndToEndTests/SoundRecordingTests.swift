import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeySupport

/// `latchkey doctor --har` on recordings of healthy streams, and on the same recordings with a part missing or altered.
@Suite(
    .enabled(if: ToolProcess.isThere && TestAuthority.isThere, "needs the built tool and openssl"),
    .timeLimit(.minutes(5)))
struct SoundRecordingTests {
    /// A profile for each way: with and without token, lookup, session, header, form, JSON. For them every change is tried, for others one.
    private static let thorough: Set = [
        "vudrm", "axinom", "expressplay-entitlement", "expressplay-token-server", "nagra", "doverunner", "jw-platform",
    ]

    /// One recording serves all of it, because each costs a live diagnosis.
    @Test(arguments: StreamTests.emulated)
    func `a valid recording passes, and one without an exchange or a body fails`(_ name: String) async throws {
        try await Self.withSound(name) { recording, asset in
            let report = try await recording.report()
            #expect(report.verdict == .right && !report.checks.contains { $0.result == .error }, "\(report.text)")
            let opened = try await recording.report(opening: true)
            #expect(opened.verdict == .right, "\(opened.text)")
            #expect(opened.checks.count { $0.step == .media && $0.result == .ok } >= 1, "\(opened.text)")
            let needed = await recording.needed()
            #expect(needed.contains { $0.role == .playlist } && needed.contains { $0.role == .license })
            for (index, role) in needed {
                // Nothing shows that a lone media playlist had a multivariant one.
                if index > 0 || asset == .twoKeys {
                    let left = await recording.diagnosis(of: Self.without(index, of: recording.exchanges)).report()
                    #expect(left.verdict != .right, "\(name) without \(role) at \(index): \(left.text)")
                }
                let changes = Self.changes(of: recording.exchanges, at: index)
                let turn = (index + name.utf8.count) % max(changes.count, 1)
                for (way, changed) in Self.thorough.contains(name) ? changes : Array(changes.dropFirst(turn).prefix(1))
                {
                    let found = await recording.diagnosis(of: changed).report()
                    #expect(found.verdict != .right, "\(name), \(role) at \(index), \(way): \(found.text)")
                }
            }
        }
    }

    @Test func `an SPC that the credentials refuse is reported with its cause`() async throws {
        try await Self.withSound("vudrm-raw") { recording, _ in
            let index = try #require(await recording.needed().first { $0.role == .license }?.index)
            var exchanges = recording.exchanges
            var spc = try #require(exchanges[index].request?.body)
            // In the wrapped key, behind version and vector.
            spc[spc.startIndex + 40] ^= 1
            exchanges[index].request?.body = spc
            let report = await recording.diagnosis(of: exchanges, opening: true).report()
            #expect(report.verdict == .wrong && report.cause?.code == "rsaDecryptFailed", "\(report.text)")
        }
    }

    @Test func `credentials of another service open nothing, and it says so`() async throws {
        try await Self.withSound("axinom") { recording, _ in
            let other = KeyServerModule(
                credentials: [try TestCredentials.make(bits: 1_024).credential], derivation: InsecureTestDerivation())
            let report = await TrafficDiagnosis(
                TrafficCapture(recording.exchanges), profile: recording.profile, module: other
            ).report()
            #expect(
                report.verdict == .right && report.text.contains("its SPC is not for --credentials"), "\(report.text)")
            #expect(!report.checks.contains { $0.step == .media && $0.result == .ok })
        }
    }

    /// The recording of a healthy stream, with two keys unless the vendor gives one to all.
    private static func withSound(
        _ name: String, _ body: (DoctorRecording, DemoAsset) async throws -> Void
    ) async throws {
        let profile = try #require(VendorProfile.named(name))
        let asset: DemoAsset = name == "jw-platform" ? .transportStream : .twoKeys
        try await LiveServices.with { live in
            let recording = try await DoctorRecording(try DoctorStage(live, profile, asset))
            #expect(recording.live.verdict == .right, "\(recording.live.text)")
            try await body(recording, asset)
        }
    }

    /// The traffic without an exchange, however often it was made: some certificates are asked for twice.
    private static func without(_ index: Int, of exchanges: [RecordedExchange]) -> [RecordedExchange] {
        func place(_ exchange: RecordedExchange) -> [String?] { [exchange.request?.method, exchange.request?.url] }
        let gone = place(exchanges[index])
        return exchanges.enumerated().filter { $0.offset != index && (gone[0] != "GET" || place($0.element) != gone) }
            .map(\.element)
    }

    /// The traffic with the reply's body of an exchange removed or altered.
    private static func changes(
        of exchanges: [RecordedExchange], at index: Int
    ) -> [(way: String, exchanges: [RecordedExchange])] {
        guard let reply = exchanges[index].reply else { return [] }
        func with(_ body: Data, _ gap: BodyGap? = nil) -> [RecordedExchange] {
            var exchanges = exchanges
            exchanges[index].reply = HTTPReply(status: reply.status, headers: reply.headers, body: body)
            exchanges[index].replyGap = gap
            return exchanges
        }
        let half = reply.body.prefix(reply.body.count / 2)
        let page = Data("<!DOCTYPE html><html><body>Sign in</body></html>".utf8)
        var ways = [
            ("no body", with(Data(), .notSaved)), ("a page", with(page)), ("nothing", with(Data())),
            ("half, of a stated length", with(half, .cutShort)),
        ]
        if !reply.body.starts(with: Data("#EXTM3U".utf8)) { ways.append(("half", with(half))) }
        return ways
    }
}
