import Foundation
import LatchkeyFairPlay
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// A player's source against the vendor's strict service: the mistakes of the documents' samples are refused as the vendor
/// refuses them, and correct sources play.
@Suite(.timeLimit(.minutes(5))) struct StrictSourceTests {
    /// A source of each document's vendor, once with the sample's mistake and once right.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let options: [String]
        let wrong, right: String
        /// The message for the mistake: the vendor's code or words, and the rule that it breaks.
        let words: [String]
        var testDescription: String { name }

        init(_ name: String, _ options: [String] = [], wrong: String, right: String, _ words: String...) {
            (self.name, self.options, self.wrong, self.right, self.words) = (name, options, wrong, right, words)
        }
    }

    private static func jwPlayer(_ token: String) -> String {
        """
        {"playlist": [{"sources": [{"file": "https://cdn.acme.example/master.m3u8", "drm": {"fairplay": {
          "certificateUrl": "https://fairplay-license.vudrm.tech/certificate/demo-client",
          "licenseRequestHeaders": [\(token)]}}}]}]}
        """
    }

    private static func cloudDRM(_ brand: String) -> String {
        """
        {"uri": "https://cdn.acme.example/master.m3u8", "drm": {"type": "fairplay",
          "licenseServer": "https://license.videokit.cloud/acquire-license/fairplay",
          "certificateUrl": "https://license.videokit.cloud/certificate/fairplay", "headers": {"x-drm-brandGuid": "\(brand)"}}}
        """
    }

    private static func theo(_ integration: String, _ license: String, _ parameters: String = "{}") -> String {
        """
        {"sources": [{"src": "https://cdn.acme.example/master.m3u8", "contentProtection": {
          "integration": "\(integration)", "integrationParameters": \(parameters),
          "fairplay": {"licenseAcquisitionURL": "\(license)", "certificateURL": "https://cdn.acme.example/fairplay.cer"}}}]}
        """
    }

    private static let nagra = "https://demo.anycast.nagra.com/DEMO/fpls/contentlicenseservice/v1/licenses"
    private static let tokenURL = "https://fp.service.expressplay.com:80/hms/fp/rights/?ExpressPlayToken="

    static let cases = [
        Case(
            "000, a token of the source, made in 2020", ["--vendor", "vudrm-raw"],
            wrong: jwPlayer(#"{"name": "x-vudrm-token", "value": "TOKEN"}"#),
            right: jwPlayer(""), "vudrm/tokenAge"),
        Case(
            "001, the brand of nobody", wrong: cloudDRM("00000000-0000-4000-8000-000000000000"),
            right: cloudDRM("5f0c2a4e-7d1b-4c3e-9a86-0b1d2e3f4a5b"), "drm_4005"),
        Case(
            "002, a license URL without the asset's GUID", ["--vendor", "ezdrm-complete"],
            wrong: theo("ezdrm", "https://fps.ezdrm.com/api/licenses"),
            right: theo("ezdrm", "https://fps.ezdrm.com/proxy/licenses"), "ezdrm/assetInURL"),
        Case(
            "003, no session", wrong: theo("nagra", nagra),
            right: theo("nagra", nagra, #"{"sessionURL": "https://demo-ssm.anycast.nagra.com/DEMO/ssm/v1"}"#),
            "nagra/sessionFirst", "code 4001"),
        Case(
            "004, a token URL of nobody", wrong: theo("expressplay", tokenURL + "AAAA"),
            right:
                #"{"drm": {"integration": "expressplay", "fairplay": {"certificateURL": "https://cdn.acme.example/c.cer"}}}"#,
            "-4010"),
    ]

    @Test(arguments: cases)
    func `the sample's mistake fails with the vendor's code; the correction plays`(_ test: Case) async throws {
        let wrong = try await play(test.wrong, test.options)
        #expect(wrong.status == .no, "\(wrong.output)\(wrong.error)")
        for word in test.words { #expect(wrong.output.contains(word), "\(word)\n\(wrong.output)") }
        let right = try await play(test.right, test.options)
        #expect(right.status == .yes, "\(right.output)\(right.error)")
    }

    private func play(_ source: String, _ options: [String]) async throws -> RecordedRun {
        let folder = try TemporaryFolder()
        let text = source.replacing("TOKEN", with: try await oldToken())
        try Data(text.utf8).write(to: folder.file("source.json"))
        return await RecordedRun(
            ["play", "--source", folder.path("source.json")] + options, tool: .standard)
    }

    /// A token of the demonstration's customer, made in 2020.
    private func oldToken() async throws -> String {
        let credentials = try TestCredentials.make(bits: 1_024)
        let bench = try TestBench.start(
            credentials: [credentials.credential], keys: DemoAsset.keys(), media: DemoAsset.located())
        let service = bench.service(forProfile: "vudrm") as? VuDRMService
        let token = service?.token(generated: Date(timeIntervalSince1970: 1_577_836_800)).revealedText
        await bench.host.stop(within: .zero)
        return try #require(token)
    }
}
