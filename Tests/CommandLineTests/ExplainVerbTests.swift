import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyCommandLine

@Suite struct ExplainVerbTests {
    private func numbers(_ run: RecordedRun) throws -> [Int] {
        let json = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]]
        return try #require(json).compactMap { $0["number"] as? Int }
    }

    private func log(_ text: String) async -> RecordedRun {
        await RecordedRun(["explain", "--json", "-"], tool: .standard, input: Data(text.utf8))
    }

    @Test(arguments: FairPlayErrorExplanation.all)
    func `a number says what, why, what to try and who`(_ known: FairPlayErrorExplanation) async throws {
        let run = await RecordedRun("explain", "\(known.code)")
        #expect(run.status == .yes && run.error.isEmpty)
        #expect(run.output.hasPrefix("\(known.code)  \(known.name)"))
        #expect(run.output.contains("(from reports)") == !known.isConfirmed)
        #expect(([known.meaning] + known.causes + known.remedies).allSatisfy(run.output.contains))
        #expect(run.output.contains(/\n  Who +\S/))
    }

    @Test func `a number may be unsigned, as browsers show it`() async throws {
        let run = await RecordedRun("explain", "--json", "4294924640")
        #expect(try numbers(run) == [-42656])
    }

    @Test func `a number of Latchkey's own is named by its code`() async throws {
        let run = await RecordedRun("explain", "216")
        #expect(run.output.hasPrefix("216  serverTransient\n"))
    }

    @Test func `a log's numbers are explained once, in order`() async throws {
        let run = await log(
            """
            12:00:01.123 GET https://keys.example/-42681/x?t=1763769600 -> 403
            Error Domain=AVFoundationErrorDomain Code=-11835 UserInfo={NSUnderlyingError=0x1 {Error
            Domain=NSOSStatusErrorDomain Code=-42656 "(null)"}}, again -42656, id 7eaf8ec3-12642-4f1e
            Error Domain=Latchkey.ContentKeyError Code=210 "(null)"
            """)
        #expect(try numbers(run) == [-11835, -42656, 210])
    }

    @Test func `HTTP statuses, dates and ids of a log are no error numbers`() async throws {
        let run = await log("2026-11-22 status 404, error 403, a1-11800, 1.-5, 1763769600")
        #expect(run.status == .no && run.errorCode == "noNumberKnown")
    }

    @Test func `an unknown number is said to be unknown`() async {
        let run = await RecordedRun("explain", "--json", "-99999")
        #expect(run.status == .no && run.errorCode == "numberUnknown")
    }

    @Test(arguments: ["", "lease", "99999999999999999999", "1.5"])
    func `what is no number is wrong usage`(_ text: String) async {
        let run = await RecordedRun("explain", text)
        #expect(run.status == .usage && run.error.contains("NUMBER"))
    }

    @Test func `all lists every number with its meaning`() async throws {
        let lines = await RecordedRun("explain", "all").output.split(separator: "\n")
        #expect(lines.count == FairPlayErrorExplanation.all.count)
        #expect(try numbers(await RecordedRun("explain", "--json", "all")) == FairPlayErrorExplanation.all.map(\.code))
    }
}
