import LatchkeyCore
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite struct TermsOptionsTests {
    private let options = TermsOptions()

    private func terms(_ words: [String]) throws -> LicenseTerms {
        let usage = Usage(name: "terms", summary: "", options: options.options)
        return try options.terms(ArgumentParser(usage: usage).parse(words))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let words: [String]
        let terms: LicenseTerms
        var testDescription: String { words.joined(separator: " ") }
    }

    @Test(arguments: [
        Row(words: [], terms: LicenseTerms()),
        Row(words: ["--lease", "60"], terms: LicenseTerms(.lease(.seconds(60)))),
        Row(words: ["--rental", "70"], terms: LicenseTerms(.rental(.seconds(70)))),
        Row(
            words: ["--lease", "60", "--rental", "70"],
            terms: LicenseTerms(.leaseAndRental(lease: .seconds(60), rental: .seconds(70)))),
        Row(words: ["--persist", "0"], terms: LicenseTerms(.persistent)),
        Row(words: ["--persist", "80"], terms: LicenseTerms(.persistentFor(.seconds(80)))),
        Row(
            words: ["--persist", "80", "--rental", "70"],
            terms: LicenseTerms(.dualExpiry(storage: .seconds(80), playback: .seconds(70)))),
        Row(words: ["--hdcp", "none"], terms: LicenseTerms(hdcp: .notRequired)),
        Row(words: ["--hdcp", "0"], terms: LicenseTerms(hdcp: .type0)),
        Row(
            words: ["--lease", "60", "--hdcp=1"], terms: LicenseTerms(.lease(.seconds(60)), hdcp: .type1)),
    ])
    func `options become terms`(row: Row) throws {
        #expect(try terms(row.words) == row.terms)
    }

    @Test(arguments: [
        ["--lease", "60", "--persist", "80"], ["--lease", "60", "--persist", "0", "--rental", "5"],
        ["--persist", "0", "--rental", "70"], ["--lease", "0"], ["--rental", "-1"], ["--hdcp", "2"],
    ])
    func `impossible license terms are wrong usage`(words: [String]) {
        #expect(throws: UsageError.self) { try terms(words) }
    }
}
