import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct DoctorVerbTests {
    @Test(arguments: [
        ["--credentials", "c", "--spc", "s"], ["--key", "skd://a"], ["--credentials", "c", "--key", "skd://a"],
        ["--allow-host", "https://a"], ["--licenses", "0"], ["--licenses", "many"],
    ])
    func `conflicting options are wrong usage`(words: [String]) async {
        let run = await RecordedRun(["doctor", "p.m3u8", "--vendor", "vudrm"] + words, tool: .standard)
        #expect(run.status == .usage)
    }

    @Test func `its help fits a screen`() async {
        let run = await RecordedRun("doctor", "--help")
        #expect(run.output.split(separator: "\n", omittingEmptySubsequences: false).count < 40)
        #expect(run.output.contains("--licenses N"))
    }

    @Test func `a setting without an equals sign gets the right form`() async {
        let run = await RecordedRun("doctor", "p.m3u8", "--vendor", "vudrm", "--set", "certificateURL")
        #expect(run.status == .usage && run.error.contains("--set certificateURL=VALUE"))
    }
}

@Suite(.timeLimit(.minutes(5))) struct TrafficWatchTests {
    private func request(_ text: String = "https://a.example/") throws -> URLRequest {
        URLRequest(url: try #require(URL(string: text)))
    }

    @Test(arguments: [("Thu, 01 Jan 2026 00:01:40 GMT", 100.0), ("Wed, 31 Dec 2025 23:58:20 GMT", -100), ("now", nil)])
    func `a server's clock is compared with this machine's`(date: String, ahead: Double?) async throws {
        let watch = TrafficWatch(
            FakeTransport { _, _ in .status(200, [("Date", date)]) }, timekeeper: ManualTimekeeper())
        _ = try await watch.send(try request(), bodyLimit: 10)
        #expect(watch.notes.aheadByHost["a.example"] == ahead)
    }

    @Test func `a redirect's target is noted without its query until another reply arrives`() async throws {
        let watch = TrafficWatch(
            FakeTransport(get: [.status(302, [("Location", "/b?token=hunter2")]), .status(200)], post: []),
            timekeeper: ManualTimekeeper())
        _ = try await watch.send(try request(), bodyLimit: 10)
        #expect(watch.notes.redirect?.target == "https://a.example/b")
        _ = try await watch.send(try request(), bodyLimit: 10)
        #expect(watch.notes.redirect == nil)
    }

    @Test func `only a credential in address, header or body is noted`() async throws {
        let watch = { TrafficWatch(FakeTransport { _, _ in .status(200) }, secrets: [Secret("a|b c")]) }
        var requests = [try request(), try request("https://a.example/?t=a%7Cb%20c"), try request(), try request()]
        requests[2].setValue("Bearer a|b c", forHTTPHeaderField: "Authorization")
        requests[3].httpBody = Data("spc".utf8)
        var noted: [Bool] = []
        for request in requests {
            let watch = watch()
            _ = try await watch.send(request, bodyLimit: 10)
            noted.append(watch.notes.sentSecrets)
        }
        #expect(noted == [false, true, true, true])
    }

    @Test func `an error without the host's name gets it`() async throws {
        let watch = TrafficWatch(
            FakeTransport { _, _ in .failure(TransportError(.hostNotFound, "The host is unknown.")) })
        let error = try await #require(throws: TransportError.self) {
            try await watch.send(try request(), bodyLimit: 10)
        }
        #expect(error.kind == .hostNotFound && error.reason == "a.example: The host is unknown.")
    }
}

/// Diagnoses with a network and a clock of the test's own.
@Suite(.timeLimit(.minutes(5))) struct DiagnosisTests {
    private static let tag =
        #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1""#

    private func playlist(_ keys: Int = 1) throws -> (folder: TemporaryFolder, path: String) {
        let folder = try TemporaryFolder()
        let lines = (0..<keys).map { Self.tag.replacing("skd://k", with: "skd://k\($0)") + "\n#EXTINF:2,\n1.ts" }
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(lines.joined(separator: "\n"))\n#EXT-X-ENDLIST\n"
        try Data(text.utf8).write(to: folder.file("p.m3u8"))
        return (folder, folder.path("p.m3u8"))
    }

    private func report(
        _ path: String, _ transport: any Transport, time: any Timekeeper = ManualTimekeeper(),
        player: StreamDiagnosis.Player = .none
    ) async -> DoctorReport {
        let profile = VendorProfile.genericRaw.setting("certificateURL", to: "https://keys.example/c")
            .setting("licenseURL", to: "https://keys.example/l")
        let diagnosis = StreamDiagnosis(
            profile: profile, credentials: CredentialSet(["token": Secret("hunter2hunter2")]), hosts: HostPolicy(),
            player: player, timekeeper: time, transport: transport)
        return await diagnosis.report(on: path)
    }

    @Test(arguments: [
        (Diagnosis.Kind.hostNotFound, "Its name has no address."),
        (.cannotConnect, "Its name has an address, where nothing takes connections."),
        (.serverWithoutTLS, "It takes connections, and TLS fails."),
        (.serverCertificateUntrusted, "It takes connections, and TLS fails."),
    ])
    func `a row says how far a request without a reply got`(_ kind: Diagnosis.Kind, _ words: String) async throws {
        let stream = try playlist()
        let found = await report(stream.path, FakeTransport { _, _ in .failure(TransportError(kind, "No reply.")) })
        let row = try #require(found.checks.first { $0.step == .network })
        #expect(row.code == kind.rawValue && row.result == .error && found.cause?.step == .network)
        #expect(row.reason == "keys.example: No reply. \(words)")
        #expect(found.checks.filter { $0.step == .certificate }.map(\.result) == [.skipped] && !found.sentSecrets)
    }

    @Test func `a service that answers was reached`() async throws {
        let found = await report(try playlist().path, FakeTransport { _, _ in .status(404) })
        #expect(found.checks.first { $0.step == .network }?.reason == "keys.example answered.")
        #expect(found.checks.first { $0.step == .certificate }?.code == "notFound")
    }

    @Test func `a reply that takes four seconds is a warning`() async throws {
        let stream = try playlist()
        let time = ManualTimekeeper()
        let found = await report(
            stream.path,
            FakeTransport { _, _ in
                time.advance(by: .seconds(4))
                return .status(404)
            }, time: time)
        #expect(found.checks.contains { $0.code == "slowReply" && $0.result == .warning })
        #expect(found.text.contains("keys.example took 4.0 s to answer"))
    }

    @Test func `20,000 keys produce only a few lines`() async throws {
        let stream = try playlist(20_000)
        let found = await report(stream.path, FakeTransport { _, _ in .status(404) })
        #expect(found.checks.count < 40 && found.text.utf8.count < 20_000)
        #expect(found.text.contains("19992 more keys are not shown"))
    }

    @Test func `garbage as an SPC is named and not sent`() async throws {
        let stream = try playlist()
        let transport = FakeTransport { _, _ in .status(404) }
        let found = await report(
            stream.path, transport, player: .recorded(Data((0..<255).map { UInt8($0) ^ 0xa5 }), key: nil))
        #expect(found.cause?.code == "spcIsUnknown" && !found.sentSecrets)
        #expect(transport.requests.allSatisfy { $0.httpMethod != "POST" })
    }

    @Test func `a public certificate is requested without the token`() async throws {
        let stream = try playlist()
        let made = try LicenseFiles()
        await made.credentials()
        let certificate = try #require(made.folder.contents("c/certificate.der"))
        let transport = FakeTransport { _, _ in .ok(certificate) }
        let profile = VendorProfile.vuDRM.setting("certificateURL", to: "https://keys.example/c")
        let diagnosis = StreamDiagnosis(
            profile: profile, credentials: CredentialSet(["token": Secret("hunter2hunter2")]), hosts: HostPolicy(),
            player: .recorded(Data("no SPC".utf8), key: nil), timekeeper: ManualTimekeeper(), transport: transport)
        let found = await diagnosis.report(on: stream.path)
        #expect(found.checks.contains { $0.step == .certificate && $0.result == .ok })
        #expect(transport.requests.count == 1 && !found.sentSecrets)
        let headers = transport.requests.flatMap { $0.allHTTPHeaderFields.map(Array.init) ?? [] }
        #expect(headers.allSatisfy { !$0.value.contains("hunter2") })
    }

    @Test func `a date in the year 9999 and a one-year wait do not crash`() async throws {
        let stream = try playlist()
        let headers = [("Date", "Fri, 31 Dec 9999 23:59:59 GMT"), ("Retry-After", "99999999999999999999")]
        let found = await report(stream.path, FakeTransport { _, _ in .status(503, headers) })
        #expect(found.checks.contains { $0.code == "clocksDiffer" })
        #expect(found.text.contains("come back in 31536000 s"))
    }
}

@Suite struct ProfileFitTests {
    @Test(arguments: [
        ("skd://drmtoday?assetId=a&keyId=b", "drmtoday"), ("skd://fps.ezdrm.com/;id", "ezdrm"),
        ("skd://h/v1/getckc?contentId=a&keyId=b", "irdeto"), ("skd://h/fairplay/ksm?b=1&v=1", "uplynk"),
        ("skd://h/acquire-license/fairplay?BrandGuid=1&KID=2", "cloud-drm"), ("skd://h/?playbackId=a&token=b", "mux"),
        ("skd://7eaf8ec3-4f1e-4d3b-9d0f-0c6a4a4a8b52:00112233445566778899aabbccddeeff", "axinom"),
        ("skd://FairPlay/7eaf8ec3-4f1e-4d3b-9d0f-0c6a4a4a8b52", "comcast"),
    ])
    func `a key URI in a vendor's form leads to its profile`(uri: String, identifier: String) throws {
        #expect(ProfileFit.suggestion(for: KeyURI(uri), besides: .vuDRM)?.identifier == identifier)
        let own = try #require(VendorProfile.named(identifier))
        #expect(ProfileFit.suggestion(for: KeyURI(uri), besides: own) == nil)
    }

    @Test(arguments: ["skd://7eaf8ec3-4f1e-4d3b-9d0f-0c6a4a4a8b52", "skd://movie-1", "skd://", "x"])
    func `a key URI form of many vendors leads to none`(uri: String) {
        #expect(ProfileFit.suggestion(for: KeyURI(uri), besides: .vuDRM) == nil)
    }
}
