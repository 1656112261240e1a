import Foundation
import LatchkeyCore
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine

/// `latchkey doctor --har` on recordings of what the live diagnosis was tried on: it says the same, or that not enough was seen.
@Suite(
    .serialized, .enabled(if: ToolProcess.isThere && TestAuthority.isThere, "needs the built tool and openssl"),
    .timeLimit(.minutes(8)))
struct DoctorRecordingTests {
    /// What a recording shows of a setup, where that is not the live cause.
    private enum Shown: Equatable {
        /// Nothing went over the network that could be wrong.
        case tooLittle
        /// The traffic is right; only the device, the decoder or the token's owner can tell more.
        case right
        /// Another side of the same fault.
        case code(String)
    }

    /// By the setups' sentences. What is sent by nobody is not in a recording: there the fault ends before the license request.
    private static let exceptions: [String: Shown] = {
        let noLicense = [
            "the VuDRM token is a year old", "the JSON Web Token's time is over",
            "the JSON Web Token's time has not come",
            "half of the VuDRM token is missing", "the token is for another key",
            "the SPC was made for another certificate", "--spc has a CKC", "--spc has the certificate",
            "--spc has a certificate as PEM", "--spc has a private key", "--spc has the SPC as base64",
            "--spc has the SPC as hexadecimal digits", "--spc has the body of a form", "--spc has a JSON body",
            "--spc has half of the SPC", "--spc has an empty file", "the device's credentials are not the service's",
            "the playlist names a host that the app did not allow",
        ]
        let noReply = [
            "nothing listens where licenses are", "the service breaks the connection",
            "the certificate's server signed its TLS certificate itself",
            "the certificate's port speaks http, not https",
        ]
        let sealed = [
            "the CKC answers another SPC", "the lease ends before a renewal can come",
            "the license has another content key than the packager's fMP4",
            "the license has another content key than the packager's transport stream",
            "the license has another IV than the packager's fMP4",
            "the license has another IV than the packager's transport stream",
            "the second of two rotated keys is wrong",
        ]
        var shown: [String: Shown] = [
            "the app gives no token": .tooLittle, "the app does not say where the certificate is": .tooLittle,
            "the license's address redirects to a stranger": .code("redirectRefused"),
        ]
        for sentence in noLicense { shown[sentence] = .code("licenseNotAsked") }
        for sentence in noReply { shown[sentence] = .code("noReplyCaptured") }
        for sentence in sealed { shown[sentence] = .right }
        return shown
    }()

    @Test(arguments: DoctorSabotageTests.setups)
    func `a recorded fault has the cause that it has live`(_ setup: DoctorSetup) async throws {
        try await LiveServices.with(keys: setup.keys?()) { live in
            let stage = try DoctorStage(live, setup.profile, setup.asset)
            try await setup.sabotage(stage)
            let recording = try await DoctorRecording(stage)
            await stage.stop()
            // A playlist that is missing on a server is answered with a status.
            let cause = setup.cause == "resourceMissing" ? "httpStatus" : setup.cause
            #expect(recording.live.cause?.code == cause, "\(recording.live.text)")
            let report = try await recording.report(on: recording.entries)
            switch Self.exceptions[setup.sentence] {
            case nil: #expect(report.cause?.code == cause, "\(report.text)")
            case .code(let code)?: #expect(report.cause?.code == code && report.verdict == .wrong, "\(report.text)")
            case .tooLittle?: #expect(report.verdict == .unknown && report.cause == nil, "\(report.text)")
            case .right?: #expect(report.verdict == .right && report.cause == nil, "\(report.text)")
            }
            let isWarning = recording.live.checks.allSatisfy { $0.result != .error }
            let isSealed = Self.exceptions[setup.sentence] == .right
            #expect(isWarning || isSealed || report.verdict != .right, "\(report.text)")
            #expect(report.verdict != .right || report.text.contains("is not looked at"))
            if isSealed {
                let opened = try await recording.report(on: recording.entries, opening: true)
                #expect(opened.cause?.code == cause, "\(opened.text)")
                #expect(isWarning || opened.verdict == .wrong, "\(opened.text)")
            }
            for secret in stage.service.secrets {
                let ids = stage.service.environment.authority.keys.keys.map { Data("\($0.id)".utf8) }
                guard !ids.contains(secret) else { continue }
                #expect(SecretForms(secret).found(in: report.text).isEmpty)
            }
        }
    }

    @Test func `every exception is a setup's`() {
        let sentences = Set(DoctorSabotageTests.setups.map(\.sentence))
        #expect(Set(Self.exceptions.keys).isSubset(of: sentences))
    }

    @Test(arguments: StreamTests.emulated)
    func `a sound recording is right`(_ name: String) async throws {
        try await Self.withSound(name) { recording, _ in
            let report = try await recording.report(on: recording.entries)
            #expect(report.verdict == .right && !report.checks.contains { $0.result == .error }, "\(report.text)")
            let opened = try await recording.report(on: recording.entries, opening: true)
            #expect(opened.verdict == .right, "\(opened.text)")
            #expect(opened.checks.count { $0.step == .media && $0.result == .ok } >= 1, "\(opened.text)")
        }
    }

    @Test func `an SPC that the credentials refuse is told with why, and is not right`() async throws {
        try await Self.withSound("vudrm-raw") { recording, _ in
            let licenses = try await recording.needed().filter { $0.role == .license }
            var entries = recording.entries
            let index = try #require(licenses.first?.index)
            var request = try #require(entries[index]["request"] as? DoctorRecording.Entry)
            var data = try #require(request["postData"] as? DoctorRecording.Entry)
            var spc = try #require((data["text"] as? String).flatMap { Data(base64Encoded: $0) })
            // In the wrapped key, behind version and vector.
            spc[spc.startIndex + 40] ^= 1
            data["text"] = spc.base64EncodedString()
            request["postData"] = data
            entries[index]["request"] = request
            let report = try await recording.report(on: entries, opening: true)
            #expect(report.verdict == .wrong && report.cause?.code == "rsaDecryptFailed", "\(report.text)")
        }
    }

    @Test func `credentials of another service open nothing, and that is said`() async throws {
        try await Self.withSound("axinom") { recording, _ in
            let other = KeyServerModule(
                credentials: [try TestCredentials.make(bits: 1_024).credential], derivation: InsecureTestDerivation())
            let report = try await TrafficDiagnosis(
                recording.capture(of: recording.entries), profile: recording.profile, module: other
            ).report()
            #expect(
                report.verdict == .right && report.text.contains("its SPC is not for --credentials"), "\(report.text)")
            #expect(!report.checks.contains { $0.step == .media && $0.result == .ok })
        }
    }

    /// A profile for each way: with and without token, lookup, session, header, form, JSON. For them every change is tried, for others one.
    private static let thorough: Set = [
        "vudrm", "axinom", "expressplay-entitlement", "expressplay-token-server", "nagra", "doverunner", "jw-platform",
    ]

    @Test(arguments: StreamTests.emulated)
    func `without an exchange or a body no recording is right`(_ name: String) async throws {
        try await Self.withSound(name) { recording, asset in
            let needed = try await recording.needed()
            #expect(needed.contains { $0.role == .playlist } && needed.contains { $0.role == .license })
            for (index, role) in needed {
                // Nothing tells that a lone media playlist had a multivariant one.
                if index > 0 || asset == .twoKeys {
                    let left = try await recording.report(on: Self.without(index, of: recording.entries))
                    #expect(left.verdict != .right, "\(name) without \(role) at \(index): \(left.text)")
                }
                let changes = Self.changes(of: recording.entries, at: index)
                let turn = (index + name.utf8.count) % max(changes.count, 1)
                for (way, changed) in Self.thorough.contains(name) ? changes : Array(changes.dropFirst(turn).prefix(1))
                {
                    let found = try await recording.report(on: changed)
                    #expect(found.verdict != .right, "\(name), \(role) at \(index), \(way): \(found.text)")
                }
            }
        }
    }

    /// What was recorded of a right stream, of two keys but where the vendor gives one to all.
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
    private static func without(_ index: Int, of entries: [DoctorRecording.Entry]) -> [DoctorRecording.Entry] {
        func place(_ entry: DoctorRecording.Entry) -> [String] {
            let request = entry["request"] as? DoctorRecording.Entry
            return [request?["method"] as? String ?? "", request?["url"] as? String ?? ""]
        }
        let gone = place(entries[index])
        return entries.enumerated().filter { $0.offset != index && (gone[0] != "GET" || place($0.element) != gone) }
            .map(\.element)
    }

    /// The traffic with one body of an exchange removed or altered.
    private static func changes(
        of entries: [DoctorRecording.Entry], at index: Int
    ) -> [(way: String, entries: [DoctorRecording.Entry])] {
        guard var response = entries[index]["response"] as? DoctorRecording.Entry,
            let content = response["content"] as? DoctorRecording.Entry, let text = content["text"] as? String,
            let body = Data(base64Encoded: text)
        else { return [] }
        func with(_ new: [String: Any?]) -> [DoctorRecording.Entry] {
            var content = content
            for (name, value) in new { content[name] = value }
            response["content"] = content
            var entries = entries
            entries[index]["response"] = response
            return entries
        }
        func with(_ bytes: Data) -> [DoctorRecording.Entry] {
            with(["text": bytes.base64EncodedString(), "size": bytes.count])
        }
        let page = Data("<!DOCTYPE html><html><body>Sign in</body></html>".utf8)
        var ways = [
            ("no body", with(["text": nil])), ("a page", with(page)), ("nothing", with(Data())),
            ("half, of a stated length", with(["text": body.prefix(body.count / 2).base64EncodedString()])),
        ]
        if !body.starts(with: Data("#EXTM3U".utf8)) { ways.append(("half", with(body.prefix(body.count / 2)))) }
        return ways
    }
}
