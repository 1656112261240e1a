import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@Suite struct TermsSummaryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let terms: LicenseTerms
        let json: String
        let text: String
        var testDescription: String { text }
    }

    @Test(arguments: [
        Row(terms: LicenseTerms(), json: #"{"kind":"unlimited","persistable":false}"#, text: "no limit"),
        Row(
            terms: LicenseTerms(.lease(.seconds(60)), hdcp: .type1),
            json: #"{"hdcp":"type1","kind":"lease","lease":60,"persistable":false}"#, text: "lease 60 s, HDCP type 1"),
        Row(
            terms: LicenseTerms(.leaseAndRental(lease: .seconds(60), rental: .seconds(70)), hdcp: .type0),
            json: #"{"hdcp":"type0","kind":"leaseAndRental","lease":60,"persistable":false,"rental":70}"#,
            text: "lease 60 s, rental 70 s, HDCP type 0"),
        Row(
            terms: LicenseTerms(.persistent, hdcp: .notRequired),
            json: #"{"hdcp":"notRequired","kind":"persistent","persistable":true}"#,
            text: "stored without limit, no HDCP required"),
        Row(
            terms: LicenseTerms(.dualExpiry(storage: .seconds(80), playback: .seconds(70))),
            json: #"{"kind":"dualExpiry","persistable":true,"playback":70,"storage":80}"#,
            text: "storage 80 s, playback 70 s"),
    ])
    func `terms show as seconds under their names`(row: Row) throws {
        let summary = TermsSummary(row.terms)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(summary), as: UTF8.self) == row.json)
        #expect("\(summary)" == row.text)
    }
}
