import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct ExplainVerbTests {
    private func numbers(_ run: RecordedRun) throws -> [Int] {
        let json = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]]
        return try #require(json).compactMap { $0["number"] as? Int }
    }

    private func log(_ text: String) async -> RecordedRun {
        await RecordedRun(["explain", "--json", "-"], tool: .standard, input: Data(text.utf8))
    }

    @Test(arguments: FairPlayErrorExplanation.all + FairPlayErrorExplanation.elsewhere)
    func `a number has a meaning, cause, fix and owner`(_ known: FairPlayErrorExplanation) async throws {
        let run = await RecordedRun("explain", known.code == 0 ? known.name : "\(known.code)")
        #expect(run.status == .yes && run.error.isEmpty)
        #expect("\n\(run.output)".contains("\n\(known.code == 0 ? "" : "\(known.code)  ")\(known.name)"))
        if !known.isConfirmed { #expect(run.output.contains("(from reports)")) }
        #expect(([known.meaning] + known.causes + known.remedies).allSatisfy(run.output.contains))
        #expect(run.output.contains(/\n  Who +\S/))
    }

    @Test func `every row of the tables of players, key servers and HTTP is read`() {
        #expect(FairPlayErrorExplanation.tablesElsewhere.flatMap(\.flaws) == [])
        for known in FairPlayErrorExplanation.elsewhere {
            #expect(!known.causes.isEmpty && !known.remedies.isEmpty)
            #expect(([known.meaning] + known.causes + known.remedies).allSatisfy { $0.hasSuffix(".") }, "\(known)")
        }
    }

    @Test func `a number that players share is explained for each`() {
        #expect(FairPlayErrorExplanation.explanations(of: 6001).map(\.domain) == [.shakaPlayer, .openTV])
        #expect(FairPlayErrorExplanation.explanations(of: 4_294_955_461).map(\.code) == [-11835])
        #expect(FairPlayErrorExplanation.explanations(of: 8).isEmpty)
        #expect(FairPlayErrorExplanation.explanations(of: 0).isEmpty)
    }

    @Test func `a number may be unsigned, as browsers show it`() async throws {
        let run = await RecordedRun("explain", "--json", "4294924640")
        #expect(try numbers(run) == [-42656])
    }

    @Test func `Latchkey's own number is named by its code`() async throws {
        let run = await RecordedRun("explain", "216")
        #expect(run.output.hasPrefix("216  serverTransient\n"))
    }

    @Test(arguments: [
        ("drm_3031", "drm_3031 of Cloud DRM", "unauthenticated"), ("MDRM-1011", "MDRM-1011 of Verimatrix", "notFound"),
        ("1007", "1007 of NAGRA CONNECT", "concurrencyLimit"),
    ])
    func `a vendor's code shows its vendor and its meaning`(code: String, title: String, kind: String) async {
        let run = await RecordedRun("explain", code)
        #expect(run.status == .yes)
        #expect(run.output.contains(title) && run.output.contains(kind) && run.output.contains("Try"))
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

    @Test(arguments: [
        #"{"error":{"code":-1000,"domain":"PlayerKit","localizedDescription":"skd://x not found"}}"#,
        "Error Domain=NSCocoaErrorDomain Code=-1009 \"(null)\"", "Domain[com.example.player]:Code[-11800]",
        "Error Domain=VidLoader.ResourceLoadingError Code=-42656",
    ])
    func `a number from an unknown domain is ignored`(_ line: String) async throws {
        #expect(await log(line).errorCode == "noNumberKnown")
        // And the next one counts again.
        let run = await log("\(line)\nthe service answered and then the player said: Code=-42656")
        #expect(try numbers(run) == [-42656])
    }

    @Test func `host names are not domains of numbers`() async throws {
        #expect(try numbers(await log("no address for the domain cdn.example.com, -1003")) == [-1003])
    }

    @Test func `an underlying error counts by its own domain`() async throws {
        let run = await log(
            """
            Error Domain=AVFoundationErrorDomain Code=-11867 "See -[AVPlayerItem errorLog] for 2 events" UserInfo={NSUnderlyingError=0x6
            {Error Domain=CoreMediaErrorDomain Code=-12880 "Can not proceed after removing variants"}}
            """)
        #expect(try numbers(run) == [-11867, -12880])
        #expect(!run.output.contains("Ask the service for a new license"))
    }

    @Test func `HTTP statuses, dates and ids are not error numbers`() async throws {
        let run = await log("2026-11-22 status 404, error 403, a1-11800, 1.-5, 1763769600")
        #expect(run.status == .no && run.errorCode == "noNumberKnown")
    }

    @Test func `an unknown number is called unknown`() async {
        let run = await RecordedRun("explain", "--json", "-99999")
        #expect(run.status == .no && run.errorCode == "numberUnknown")
    }

    @Test(arguments: ["", "lease", "99999999999999999999", "1.5", "0x", "0x11112222333344445"])
    func `a non-number is wrong usage`(_ text: String) async {
        let run = await RecordedRun("explain", text)
        #expect(run.status == .usage && run.error.contains("NUMBER"))
    }

    @Test(arguments: [
        (["0xFFFF5960"], [-42656]), (["0xffffffffffff5960"], [-42656]), (["ffff5960"], [-42656]),
        (["18446744073709508960"], [-42656]), (["\u{2212}42656"], [-42656]), (["\u{2013}42656"], [-42656]),
        (["fmt?"], [1_718_449_215]), (["'HDCP'"], [1_212_433_232]), (["AVErrorContentIsNotAuthorized"], [-11835]),
        (["AVError.Code.contentIsNotAuthorized"], [-11835]), (["NSURLErrorTimedOut"], [-1001]),
        (["LICENSE_REQUEST_FAILED"], [6007]), (["serverTransient"], [216]), (["1936745277"], [1_936_745_277]),
        (["813827283"], [813_827_283]), (["-42650"], [-42650]), (["-15517"], [-15517]), (["-12927"], [-12927]),
        (["CoreMediaErrorDomain -12660"], [-12660]), (["CoreMediaErrorDomain", "-12660"], [-12660]),
        (["CoreMediaErrorDomain error -12660."], [-12660]), (["THEO 7003"], [7003]), (["JW", "281000"], [281_000]),
        (["Shaka 6018"], [6018]), (["NAGRA 5004"], [5004]), (["HTTP 403"], [403]), (["HTTP status 404"], [404]),
        (["Latchkey 403"], [403]), (["403"], [403, 403]), (["6001"], [6001, 6001]),
        (
            [
                #"Error Domain=AVFoundationErrorDomain Code=-11835 "x" UserInfo={Error Domain=CoreMediaErrorDomain Code=-42668}"#
            ],
            [-11835, -42668]
        ),
    ])
    func `a number is read as logs and consoles show it`(words: [String], expected: [Int]) async throws {
        let run = await RecordedRun(["explain", "--json"] + words, tool: .standard)
        #expect(run.status == .yes, "\(run.error)")
        #expect(try numbers(run) == expected)
    }

    @Test(arguments: -1009 ... -1001)
    func `every number of a failed request is known`(number: Int) async {
        let run = await RecordedRun("explain", "\(number)")
        #expect(run.status == .yes && run.output.contains("NSURLError"))
    }

    @Test func `403 is HTTP's first, then Latchkey's`() async {
        let run = await RecordedRun("explain", "403")
        #expect(run.output.hasPrefix("403  HTTP 403, forbidden") && run.output.contains("\n403  keyIndexTooNew"))
    }

    @Test(arguments: [("42656", "-42656 (lease ended)"), ("-42566", "-42656"), ("-42657", "-42656")])
    func `a near miss gets a suggestion`(text: String, hint: String) async {
        let run = await RecordedRun("explain", text)
        #expect(run.status == .no && run.error.contains("Did you mean") && run.error.contains(hint))
    }

    @Test func `a long log may be a file`() async throws {
        let folder = try TemporaryFolder()
        let line = Data("12:00:01 GET https://cdn.example/seg.ts 200 took 12 ms\n".utf8)
        let last = Data("Error Domain=CoreMediaErrorDomain Code=-12660\n".utf8)
        let log = Data([Data](repeating: line, count: 20_000).joined()) + last
        try log.write(to: folder.file("device.log"))
        let run = await RecordedRun("explain", "--json", folder.path("device.log"))
        #expect(try numbers(run) == [-12660])
    }

    @Test(arguments: [Data("a".utf8), Data(" ".utf8), Data("1".utf8), Data([0xff]), Data([0xe2, 0x88])])
    func `a megabyte of one word, blanks, digits or broken text is read in one pass`(unit: Data) async throws {
        let log = Data([Data](repeating: unit, count: (1 << 20) / unit.count).joined())
        // Quadratic reading would pass the suite's time limit.
        let run = await RecordedRun(["explain", "-"], tool: .standard, input: log + Data("\n-42656\n".utf8))
        #expect(run.status == .yes && run.output.hasPrefix("-42656"))
    }

    @Test func `a word split across two pieces is one word`() {
        var scanner = LogScanner()
        for piece in ["Code=-42", "656 and \u{2212}", "1183"] { scanner.scan(Data(piece.utf8)) }
        scanner.scan(Data("5".utf8))
        #expect(scanner.finished().map(\.number) == [-42656, -11835])
    }

    @Test func `all lists every number with its meaning`() async throws {
        let lines = await RecordedRun("explain", "all").output.split(separator: "\n")
        let known = FairPlayErrorExplanation.all + FairPlayErrorExplanation.elsewhere
        #expect(lines.count == known.count)
        #expect(try numbers(await RecordedRun("explain", "--json", "all")) == known.map(\.code))
    }
}
