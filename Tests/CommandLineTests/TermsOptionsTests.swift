import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyCommandLine

@Suite struct TermsOptionsTests {
    private let options = TermsOptions()

    private func terms(_ words: [String]) throws -> LicenseTerms {
        let usage = Usage(name: "terms", summary: "", options: options.options)
        return try options.terms(ArgumentParser(usage: usage).parse(words))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let words: [String]
        let terms: LicenseTerms
        let text: String
        var testDescription: String { words.joined(separator: " ") }
    }

    @Test(arguments: [
        Row(words: [], terms: LicenseTerms(), text: "no limit"),
        Row(words: ["--lease", "60"], terms: LicenseTerms(.lease(.seconds(60))), text: "lease 60 s"),
        Row(words: ["--rental", "70"], terms: LicenseTerms(.rental(.seconds(70))), text: "rental 70 s"),
        Row(
            words: ["--lease", "60", "--rental", "70"],
            terms: LicenseTerms(.leaseAndRental(lease: .seconds(60), rental: .seconds(70))),
            text: "lease 60 s, rental 70 s"),
        Row(words: ["--persist", "0"], terms: LicenseTerms(.persistent), text: "stored without limit"),
        Row(words: ["--persist", "80"], terms: LicenseTerms(.persistentFor(.seconds(80))), text: "storage 80 s"),
        Row(
            words: ["--persist", "80", "--rental", "70"],
            terms: LicenseTerms(.dualExpiry(storage: .seconds(80), playback: .seconds(70))),
            text: "storage 80 s, playback 70 s"),
        Row(words: ["--hdcp", "none"], terms: LicenseTerms(hdcp: .notRequired), text: "no limit, no HDCP required"),
        Row(words: ["--hdcp", "0"], terms: LicenseTerms(hdcp: .type0), text: "no limit, HDCP type 0"),
        Row(
            words: ["--lease", "60", "--hdcp=1"], terms: LicenseTerms(.lease(.seconds(60)), hdcp: .type1),
            text: "lease 60 s, HDCP type 1"),
    ])
    func `options become terms, and terms text`(row: Row) throws {
        let terms = try terms(row.words)
        #expect(terms == row.terms)
        #expect(TermsReport(terms).text == row.text)
    }

    @Test(arguments: [
        ["--lease", "60", "--persist", "80"], ["--lease", "60", "--persist", "0", "--rental", "5"],
        ["--persist", "0", "--rental", "70"], ["--lease", "0"], ["--rental", "-1"], ["--hdcp", "2"],
    ])
    func `terms that no license can have are wrong usage`(words: [String]) {
        #expect(throws: UsageError.self) { try terms(words) }
    }

    @Test func `the report names each time by what it limits`() throws {
        let report = TermsReport(LicenseTerms(.dualExpiry(storage: .seconds(80), playback: .seconds(70)), hdcp: .type1))
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(report)) as? [String: Any]
        #expect(json?["kind"] as? String == "dualExpiry")
        #expect(json?["storage"] as? Int == 80)
        #expect(json?["playback"] as? Int == 70)
        #expect(json?["persistable"] as? Bool == true)
        #expect(json?["hdcp"] as? String == "type1")
        #expect(json?.keys.contains("lease") == false)
    }
}
