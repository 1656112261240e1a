import Foundation
import LatchkeyCore
import LatchkeyForms
import Testing

@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(1))) struct LicenseRecordRowTests {
    @Test func `a row is read as written, with every member`() throws {
        #expect(try LicenseRecordRow(json: LicenseRecordRow.full.json) == .full)
        #expect(try LicenseRecordRow(json: LicenseRecordRow(.end, time: 5).json) == LicenseRecordRow(.end, time: 5))
        #expect(!LicenseRecordRow.full.json.contains(UInt8(ascii: "\n")))
    }

    @Test func `later members and versions are ignored`() throws {
        let text = #"{"v":7,"node":"n","spool":"s","seq":3,"time":9,"event":"license","later":{"a":[1]}}"#
        let row = try LicenseRecordRow(json: Array(text.utf8))
        #expect(row.position == RecordPosition(node: "n", spool: "s", sequence: 3) && row.time == 9)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"v":0,"seq":1,"time":1,"event":"license"}"#, #"{"v":1,"seq":1,"event":"license"}"#,
        #"{"v":1,"time":1,"event":"license"}"#, #"{"v":1,"seq":1,"time":1}"#, #"{"v":1,"seq":1,"time":1,"event":"x"}"#,
        #"{"v":1,"seq":1,"time":1,"event":"end","cause":"x"}"#, #"{"v":1,"seq":1.5,"time":1,"event":"end"}"#,
        #"{"v":1,"seq":-1,"time":1,"event":"end"}"#, #"{"v":1,"seq":1,"time":1,"event":"end","tenant":3}"#,
        #"{"v":1,"seq":1,"time":1,"event":"end","seconds":"3"}"#, #"{"v":1,"seq":1,"time":1e300,"event":"end"}"#,
        #"{"v":1,"seq":1,"time":1,"event":"end","decision":"x"}"#,
        #"{"v":1,"seq":1,"time":253402300800000,"event":"end"}"#,
    ])
    func `an invalid row is refused with a cause`(_ text: String) {
        #expect(throws: RecordRowError.self) { try LicenseRecordRow(json: Array(text.utf8)) }
    }

    @Test func `a row that is cut anywhere is refused`() {
        let json = LicenseRecordRow.full.json
        for end in json.indices {
            #expect(throws: RecordRowError.self) { try LicenseRecordRow(json: json[..<end]) }
        }
    }

    @Test func `a query matches only its rows`() {
        var query = RecordQuery(times: 0..<LicenseRecordRow.noon + 8)
        #expect(query.wants(.full))
        query.tenant = "acme"
        query.events = [.renewal]
        #expect(query.wants(.full))
        query.account = "otto"
        #expect(!query.wants(.full))
        query.account = nil
        query.before = RecordCursor(.full)
        #expect(!query.wants(.full))
        #expect(!RecordQuery(times: 0..<LicenseRecordRow.noon).wants(.full))
    }
}
