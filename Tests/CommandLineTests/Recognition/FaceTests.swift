import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The faces that identify bytes: they name each dress alike, and the faces that read a reply agree on whether it will do.
///
/// A certificate, a CKC and an SPC all reach every face as a reply, so that no cell of the table is empty.
@Suite(.timeLimit(.minutes(5))) struct FaceTests {
    /// A face's answer about a dress.
    struct Word {
        /// The name that it gives, or all its text.
        let said: String
        /// Whether it accepts the bytes as the expected kind.
        let isTaken: Bool
    }

    private static let profile = VendorProfile.genericRaw.setting(
        "certificateURL", to: "https://keys.example/fairplay.cer"
    ).setting("licenseURL", to: "https://keys.example/license")

    @Test(arguments: Dress.all)
    func `inspect names it`(dress: Dress) async throws {
        let body = dress.make(try await RecordedTraffic.parts)
        let run = await RecordedRun(["inspect", dress.place.rawValue, "-", "--json"], tool: .standard, input: body)
        // An expected kind is shown by its parts, and an encoding has to be removed first.
        let plain = [Inspection.Kind.certificate: "a certificate", .ckc: "a CKC"][dress.place]
        #expect((run.status == .yes) == (dress.noun == plain), "\(run.output)")
        #expect(run.json["found"] as? String ?? plain == dress.noun, "\(run.output)")
    }

    @Test(arguments: Dress.all)
    func `the client names it in its error, or takes it`(dress: Dress) async throws {
        let word = try Self.client(dress, dress.make(try await RecordedTraffic.parts))
        #expect(word.isTaken == dress.isTaken && word.said.contains(dress.noun), "\(word.said)")
        #expect(!word.said.contains(/instead of [0-9]{6}/), "no length is told that nothing can have")
    }

    private static func client(_ dress: Dress, _ body: Data) throws -> Word {
        let url = try #require(URL(string: "https://keys.example/"))
        let exchange = HTTPExchange(request: URLRequest(url: url), reply: HTTPReply(status: 200, body: body))
        let context = LicenseContext(keyURI: KeyURI("skd://a"), contentIdentifier: ContentIdentifier("a"))
        do {
            guard dress.place == .ckc else {
                return Word(said: try profile.unchecked.certificate(from: exchange).form.noun, isTaken: true)
            }
            let license = try profile.unchecked.license(from: exchange, context)
            return Word(said: license.warnings.first?.text ?? "a CKC", isTaken: true)
        } catch let error as IntegrationError {
            return Word(said: error.reason, isTaken: false)
        }
    }

    @Test(arguments: Dress.all)
    func `wire response names it`(dress: Dress) async throws {
        let body = dress.make(try await RecordedTraffic.parts)
        let stage = dress.place == .ckc ? "license" : "certificate"
        let words = ["wire", "response", "--vendor", "generic-raw", "--stage", stage, "--body", "-"]
        let run = await RecordedRun(words + ["--json"], tool: .standard, input: body)
        #expect((run.status == .yes) == dress.isTaken, "\(run.output)\(run.error)")
        #expect(run.json["found"] as? String == dress.noun, "\(run.output)")
        let read = await RecordedRun(words, tool: .standard, input: body)
        #expect(["a certificate", "a CKC"].contains(dress.noun) || read.output.contains(dress.noun), "\(read.output)")
    }

    @Test(arguments: Dress.all)
    func `doctor --har names it`(dress: Dress) async throws {
        let body = RecordedTraffic.Body.base64(dress.make(try await RecordedTraffic.parts))
        let start = RecordedTraffic().playlist()
        let traffic =
            dress.place == .ckc
            ? try await start.certificate().license("https://keys.example/license", [:], status: 200, body)
            : try await start.adding("GET", "https://keys.example/fairplay.cer", status: 200, [:], body)
                .license("https://keys.example/license")
        try Self.compare(try await traffic.diagnosed("--vendor", "generic-raw"), with: dress)
    }

    @Test(arguments: Dress.all)
    func `the live doctor names it`(dress: Dress) async throws {
        let parts = try await RecordedTraffic.parts
        let body = dress.make(parts)
        let folder = try TemporaryFolder()
        let list = RecordedTraffic().playlist().entries.first?["response"] as? [String: Any]
        let text = (list?["content"] as? [String: Any])?["text"] as? String
        try Data(try #require(text).utf8).write(to: folder.file("p.m3u8"))
        let transport = FakeTransport { request, _ in
            let isLicense = request.httpMethod == "POST"
            return .ok(isLicense == (dress.place == .ckc) ? body : isLicense ? parts.ckc : parts.certificate)
        }
        let diagnosis = StreamDiagnosis(
            profile: Self.profile, credentials: .none, hosts: HostPolicy(), player: .recorded(parts.spc, key: nil),
            timekeeper: ManualTimekeeper(), transport: transport)
        let found = await diagnosis.report(on: folder.path("p.m3u8"))
        try Self.compare(found.checks, with: dress, found.text)
    }

    @Test(arguments: Dress.all)
    func `vendors identify names it`(dress: Dress) async throws {
        let parts = try await RecordedTraffic.parts
        let folder = try TemporaryFolder()
        let traffic = RecordedTraffic().adding(
            "POST", "https://keys.example/license", [:], .base64(parts.spc), status: 200, [:],
            .base64(dress.make(parts)))
        let log: [String: Any] = ["log": ["version": "1.2", "entries": traffic.entries]]
        try JSONSerialization.data(withJSONObject: log).write(to: folder.file("one.har"))
        let run = await RecordedRun("vendors", "identify", folder.path("one.har"), "--json")
        let bodies = run.json["bodies"] as? [String] ?? []
        #expect(bodies.first == "The body of request 1 is an SPC.", "\(run.output)\(run.error)")
        #expect(bodies.last == "The body of the reply to request 1 is \(dress.noun).", "\(run.output)")
    }

    /// Compares a doctor's finding for the step with a dress.
    private static func compare(_ run: RecordedRun, with dress: Dress) throws {
        let checks = try #require(run.json["checks"] as? [[String: Any]], "\(run.output)\(run.error)")
        let step = checks.filter { $0["step"] as? String == dress.step }
        let said = step.compactMap { $0["reason"] as? String }.joined(separator: " ")
        expect(said, isTaken: !step.contains { $0["result"] as? String == "error" }, dress, run.output)
    }

    private static func compare(_ checks: [Checkup], with dress: Dress, _ output: String) throws {
        let step = checks.filter { $0.step.rawValue == dress.step }
        let said = step.map(\.reason).joined(separator: " ")
        expect(said, isTaken: !step.contains { $0.result == .error }, dress, output)
    }

    private static func expect(_ said: String, isTaken: Bool, _ dress: Dress, _ output: String) {
        #expect(isTaken == dress.isTaken, "\(output)")
        // A valid certificate is shown by its parts.
        let noun = dress.noun == "a certificate" && dress.isTaken ? "SHA-1" : dress.noun
        #expect(said.contains(noun) && !said.contains(/instead of [0-9]{6}/), "\(output)")
    }
}

extension Dress {
    fileprivate var step: String { place == .ckc ? "license" : "certificate" }
}
