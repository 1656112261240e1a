import Foundation
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct VendorsVerbTests {
    private func list() async throws -> [[String: Any]] {
        let run = await RecordedRun("vendors", "--json")
        #expect(run.status == .yes)
        let json = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
        return try #require(json as? [[String: Any]])
    }

    private func check(_ json: String) async -> RecordedRun {
        await RecordedRun(["vendors", "check", "--json", "-"], tool: .standard, input: Data(json.utf8))
    }

    @Test func `every vendor is listed with its needs`() async throws {
        let vendors = try await list()
        #expect(vendors.compactMap { $0["identifier"] as? String } == VendorProfile.all.map(\.identifier))
        let parameters = try #require(vendors.first?["parameters"] as? [[String: Any]])
        let certificate = try #require(parameters.first { $0["name"] as? String == "certificateURL" })
        #expect(certificate["required"] as? Bool == true)
        #expect(certificate["credential"] as? Bool == false)
        #expect((certificate["example"] as? String)?.hasPrefix("https://") == true)
        #expect((certificate["meaning"] as? String)?.isEmpty == false)
        let evidence = vendors.compactMap { $0["evidence"] as? [String: String] }
        #expect(evidence.count == vendors.count)
        #expect(evidence.allSatisfy { $0["level"] != nil && $0["read"] != nil && $0["source"] != nil })
    }

    @Test func `the text output has a line for each vendor, and the names without a profile`() async {
        let run = await RecordedRun("vendors")
        #expect(run.output.contains(/\n  EZDRM +ezdrm ezdrm-complete/))
        #expect(run.output.contains("VdoCipher, SDMC"))
        #expect(run.output.split(separator: "\n").count < 50)
        #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 140 })
        for profile in VendorProfile.all { #expect(run.output.contains(profile.identifier)) }
        #expect(run.error == "")
    }

    @Test(arguments: ["cloud", "Cloud DRM", "CLOUD-DRM"])
    func `a name shows its profiles' needs, a line for each parameter`(name: String) async {
        let run = await RecordedRun("vendors", name)
        #expect(run.status == .yes)
        #expect(run.output.hasPrefix("cloud-drm  Cloud DRM  (documented, read 2026-"))
        #expect(run.output.contains(/\n  certificateURL +required +address of the application certificate +https:/))
        #expect(!run.output.contains("ezdrm"))
    }

    @Test func `every example is shown, tokens too`() async throws {
        for profile in VendorProfile.all {
            let run = await RecordedRun("vendors", profile.identifier)
            #expect(profile.parameters.allSatisfy { run.output.contains($0.example) }, "\(profile.identifier)")
        }
    }

    @Test func `an unknown vendor name gets the nearest one`() async {
        let run = await RecordedRun("vendors", "vurdm")
        #expect(run.status == .no)
        #expect(run.error.contains("Did you mean vudrm?"))
        let json = await RecordedRun("vendors", "nothing-like-it", "--json")
        #expect(json.errorCode == "noVendor")
    }

    @Test func `JSON takes the name too`() async throws {
        let run = await RecordedRun("vendors", "--json", "sigma")
        let vendors = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]]
        #expect(vendors?.compactMap { $0["identifier"] as? String } == ["sigma", "sigma-form"])
    }

    @Test(arguments: VendorProfile.all)
    func `show prints a profile that check finds valid`(profile: VendorProfile) async throws {
        let shown = await RecordedRun("vendors", "show", profile.identifier)
        #expect(shown.status == .yes)
        #expect(try VendorProfile(json: Data(shown.output.utf8)) == profile)
        let checked = await check(shown.output)
        #expect(checked.status == .yes)
        #expect(checked.json["valid"] as? Bool == true)
        #expect((checked.json["problems"] as? [Any])?.isEmpty == true)
    }

    @Test func `check names each problem's field and reason`() async throws {
        let json = try JSONEncoder().encode(VendorProfile.vuDRM)
        let text = String(decoding: json, as: UTF8.self).replacing(
            #"{"setting":"licenseURL"}"#, with: #"{"setting":"licenceURL"}"#)
        let run = await check(text)
        #expect(run.status == .no)
        #expect(run.json["valid"] as? Bool == false)
        let problems = try #require(run.json["problems"] as? [[String: String]])
        #expect(problems.map { $0["field"] } == ["license.url.base", "parameters[1]"])
        #expect(problems.first?["reason"]?.contains("licenceURL") == true)
        let people = await RecordedRun(["vendors", "check", "-"], tool: .standard, input: Data(text.utf8))
        #expect(people.status == .no)
        #expect(people.output.hasPrefix("license.url.base: The rule reads the setting \"licenceURL\""))
        #expect(people.output.split(separator: "\n").count == 2)
    }

    @Test func `a missing file is not a profile`() async {
        let run = await RecordedRun("vendors", "check", "--json", "/nonexistent/profile.json")
        #expect(run.status == .no)
        #expect(run.errorCode == "cannotRead")
    }

    @Test(arguments: [
        (["vendors", "shwo", "vudrm"], "Did you mean: latchkey vendors show"),
        (["vendors", "show", "vudmr"], "Did you mean vudrm?"), (["vendors", "show"], "latchkey vendors show --help"),
        (["vendors", "check"], "latchkey vendors check --help"),
        (["wire"], "latchkey wire request, latchkey wire response"),
        (["wire", "requst"], "Did you mean: latchkey wire request"),
        (["help", "wire"], "There are: latchkey wire request"),
    ])
    func `wrong usage gets a hint`(words: [String], hint: String) async {
        let run = await RecordedRun(words, tool: .standard)
        #expect(run.status == .usage)
        #expect(run.error.contains(hint))
    }

    @Test(arguments: [
        ["vendors", "--help"], ["vendors", "show", "--help"], ["vendors", "identify", "--help"],
        ["vendors", "check", "-h"],
        ["wire", "request", "--help"],
        ["wire", "response", "--help"], ["help", "vendors", "show"], ["demo", "--help"], ["play", "--help"],
    ])
    func `help has examples and exit codes`(words: [String]) async {
        let run = await RecordedRun(words, tool: .standard)
        #expect(run.status == .yes)
        #expect(run.output.contains("\nExamples:\n  latchkey "))
        #expect(run.output.contains("\nExit codes: 0 "))
    }

    @Test func `help for a verb's first word lists its verbs`() async {
        let run = await RecordedRun("wire", "--help")
        #expect(run.status == .yes)
        #expect(run.output.contains("latchkey wire request"))
        #expect(run.output.contains("latchkey wire response"))
    }
}
