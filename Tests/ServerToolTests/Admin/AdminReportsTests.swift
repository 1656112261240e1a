import Foundation
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// The operators' reports of the record, and their cost to licenses.
@Suite(.timeLimit(.minutes(5))) struct AdminReportsTests {
    private static let now = RecordStage.now
    private static let hour = RecordStage.hour

    @Test func `figures have groups, a total and the time of their data`() async throws {
        let stage = try await RecordStage()
        stage.record.add([
            RecordStage.row(.license, at: Self.now - 30 * Self.hour),
            RecordStage.row(.license, at: Self.now - 2 * Self.hour, account: "bob"),
            RecordStage.row(.renewal, at: Self.now - Self.hour),
            RecordStage.row(.refusal, at: Self.now - Self.hour, code: "sessionLimit"),
        ])
        let reply = try await stage.test.admin("tenants/demo/report?\(RecordStage.range)")
        #expect(reply.status == 200, "\(reply.text)")
        #expect(reply.texts("groups", "group") == ["2026-11-26T00:00:00Z", "2026-11-27T00:00:00Z"])
        let total = reply.json["total"]
        for (name, value) in [("licenses", 2.0), ("renewals", 1), ("refusals", 1), ("accounts", 2), ("devices", 2)] {
            #expect(total?[name]?.number == value, "\(name)")
        }
        #expect(reply.json["asOf"]?.text == "2026-11-27T12:00:00Z")
        let refusals = try await stage.test.admin("tenants/demo/report?\(RecordStage.range)&by=code&event=refusal")
        #expect(refusals.texts("groups", "group") == ["sessionLimit"])
        let ann = try await stage.test.admin("tenants/demo/report?\(RecordStage.range)&account=ann&by=content")
        #expect(ann.list("groups").first?["licenses"]?.number == 1)
    }

    @Test func `notes name the data missing from the figures, and a complete report has none`() async throws {
        let stage = try await RecordStage()
        stage.record.add((1...3).map { RecordStage.row(.license, at: Self.now - 1, content: "film-\($0)") })
        let whole = "from=2026-11-27T11:59:59.999Z&to=2026-11-28T00:00:00Z"
        let all = try await stage.test.admin("tenants/demo/report?\(whole)&by=content")
        #expect(all.json["notes"] == .array([]), "\(all.text)")
        let early = try await stage.test.admin("tenants/demo/report?\(RecordStage.range)&by=content")
        #expect(early.json["notes"]?.texts?.first?.contains("goes back to 2026-11-27T11:59:59.999Z") == true)
        let cut = try await stage.test.admin("tenants/demo/report?\(whole)&by=content&limit=2")
        #expect(cut.json["notes"]?.texts?.last?.hasPrefix("2 of 3 groups are listed") == true, "\(cut.text)")
        #expect(cut.json["total"]?["licenses"]?.number == 3 && cut.json["groupCount"]?.number == 3)
        stage.record.add([RecordStage.row(.license, at: Self.now - Self.hour, node: "node-b")])
        let silent = try await stage.test.admin("tenants/demo/report?\(whole)")
        let notes = silent.json["notes"]?.texts ?? []
        #expect(notes.count == 1, "\(notes)")
        #expect(notes.first?.contains("node node-b last shipped rows at 2026-11-27T11:00:00Z") == true)
    }

    @Test func `an empty record says so and counts nothing`() async throws {
        let stage = try await RecordStage()
        let reply = try await stage.test.admin("tenants/demo/report?last=1h")
        #expect(reply.json["notes"]?.texts == ["The record has no rows of the tenant yet."])
        #expect(reply.list("groups").isEmpty && reply.json["total"]?["licenses"]?.number == 0)
    }

    @Test func `an account's history is paged to its end, each row once`() async throws {
        let stage = try await RecordStage()
        stage.record.add(
            (1...25).map { number in
                RecordStage.row(
                    .license, at: Self.now - Int64(number / 5), request: "request-\(number)",
                    number: UInt64(number))
            } + [RecordStage.row(.license, at: Self.now - 5, account: "bob")])
        var (seen, next): ([String], String?) = ([], "")
        while let before = next {
            let page = try await stage.test.admin(
                "tenants/demo/history?\(RecordStage.range)&account=ann&limit=7&before=\(before)")
            #expect(page.status == 200, "\(page.text)")
            seen += page.texts("rows", "requestId")
            next = page.json["next"]?.text
        }
        #expect(seen.count == 25 && Set(seen).count == 25)
        #expect(seen.first == "request-4" && seen.last == "request-25")
    }

    @Test func `a CSV history is complete, and no name becomes a formula`() async throws {
        let stage = try await RecordStage()
        stage.record.add(
            (1...1_203).map {
                RecordStage.row(.license, at: Self.now - Int64($0), content: "=cmd|' /C calc'!A0", number: UInt64($0))
            })
        let reply = try await stage.test.admin("tenants/demo/history?\(RecordStage.range)&account=ann&format=csv")
        let lines = reply.text.components(separatedBy: "\r\n")
        // A head, the rows, a note of the range before the first row, and the end of the last line.
        #expect(lines.count == 1_203 + 3)
        #expect(lines[0].hasPrefix("time,event,") && lines[0].hasSuffix("as of,note"))
        #expect(lines[1].contains(",'=cmd|") && !reply.text.contains(",=cmd"))
        #expect(lines[1_204].contains("The record goes back to"))
    }

    @Test func `CSV figures include a total and the notes`() async throws {
        let stage = try await RecordStage()
        stage.record.add([RecordStage.row(.license, at: Self.now - 1, content: "a,\"b\"")])
        let reply = try await stage.test.admin("tenants/demo/report?\(RecordStage.range)&by=content&format=csv")
        let lines = reply.text.components(separatedBy: "\r\n")
        let head = "row,content,licenses,renewals,refusals,accounts,devices,sessions,"
        #expect(lines[0] == head + "p50Microseconds,p95Microseconds,p99Microseconds,from,to,as of,source,note")
        #expect(lines[1].hasPrefix("group,\"a,\"\"b\"\"\",1,0,0,1,1,0,,,,2026-11-20T00:00:00Z,"))
        #expect(lines[2].hasPrefix("total,,1,0,0,1,1,0,,,,") && lines[2].hasSuffix(",rows,"), "\(lines[2])")
        #expect(lines[3].hasPrefix("note,,") && lines[3].contains("goes back to"))
    }

    @Test func `concurrent viewers are each interval's peak, and uncounted intervals are omitted`() async throws {
        let stage = try await RecordStage()
        let rows = [(0, 3), (10, 9), (20, 4), (300, 5)].map { minutes, count in
            var row = RecordStage.row(.viewers, at: Self.now - 6 * Self.hour + Int64(minutes) * 60_000, account: "")
            row.count = count
            return row
        }
        stage.record.add(rows)
        let reply = try await stage.test.admin("tenants/demo/viewers?last=7d&to=2026-11-27T12:00:00Z")
        #expect(reply.json["bucketSeconds"]?.number == 3_600 && reply.json["most"]?.number == 9)
        #expect(reply.texts("points", "time") == ["2026-11-27T06:00:00Z", "2026-11-27T11:00:00Z"])
        #expect(reply.list("points").compactMap { $0["viewers"]?.number } == [9, 5])
        // A missing count is not a count of zero.
        let none = try await stage.test.admin("tenants/demo/viewers?from=2026-11-20&to=2026-11-21")
        #expect(none.status == 200 && none.json["most"] == nil && none.list("points").isEmpty)
    }

    @Test(arguments: [
        "report?from=yesterday", "report?from=2026-11-28&to=2026-11-01", "report?from=2020-01-01", "report?last=x",
        "report?last=7d&from=2026-11-01", "report?by=color", "report?event=end", "report?format=pdf", "report?limit=0",
        "report?limit=99999", "report?source=x", "history?last=1d", "history?account=ann&before=x",
        "viewers?from=2026-13-01",
    ])
    func `an invalid query is refused with a remedy`(_ path: String) async throws {
        let stage = try await RecordStage()
        let reply = try await stage.test.admin("tenants/demo/\(path)")
        #expect(reply.status == 400, "\(reply.status)")
        #expect(reply.json["remedy"]?.text?.isEmpty == false)
    }

    @Test func `a tenant's figures never include another's rows`() async throws {
        let stage = try await RecordStage()
        var row = RecordStage.row(.license, at: Self.now - 1)
        row.tenant = "other"
        stage.record.add([row])
        let report = try await stage.test.admin("tenants/demo/report?\(RecordStage.range)")
        #expect(report.json["total"]?["licenses"]?.number == 0)
        let history = try await stage.test.admin("tenants/demo/history?\(RecordStage.range)&account=ann")
        #expect(history.list("rows").isEmpty)
        for path in ["report", "viewers", "history?account=ann"] {
            #expect(try await stage.test.admin("tenants/other/\(path)").status == 404)
            let viewer = try await stage.test.admin("tenants/demo/\(path)", key: TestServer.key(.viewer))
            #expect(viewer.status == 200)
            #expect(try await stage.test.admin("tenants/demo/\(path)", key: nil).status == 401)
        }
    }

    @Test func `a report covers all tenants, and a long one that ends now begins with an hour`() async throws {
        let stage = try await RecordStage()
        var other = RecordStage.row(.license, at: Self.now - 2)
        other.tenant = "other"
        stage.record.add([RecordStage.row(.license, at: Self.now - 1), RecordStage.row(.refusal, at: Self.now), other])
        let all = try await stage.test.admin("report?\(RecordStage.range)&by=tenant")
        #expect(all.texts("groups", "group") == ["demo", "other"], "\(all.text)")
        #expect(all.json["source"]?.text == "rows")
        #expect(all.json["total"]?["licenses"]?.number == 2 && all.json["total"]?["p50Microseconds"] == nil)
        let csv = try await stage.test.admin("report?\(RecordStage.range)&by=tenant&format=csv&source=rows")
        #expect(csv.text.contains("\r\ngroup,other,1,0,0,1,1,0,"), "\(csv.text)")
        // A name is one tenant's: another may have the same.
        #expect(try await stage.test.admin("report?account=ann").status == 400)
        for (range, minute) in [("last=24h", "00:00Z"), ("last=90m", nil)] as [(String, String?)] {
            let from = try await stage.test.admin("tenants/demo/report?\(range)").json["from"]?.text ?? ""
            #expect(minute == nil || from.hasSuffix(minute ?? ""), "\(from)")
        }
    }

    @Test func `without a record a remedy is shown`() async throws {
        let stage = try await RecordStage(RecordQueries.Source.none)
        let reply = try await stage.test.admin("tenants/demo/report")
        #expect(reply.status == 404 && reply.json["code"]?.text == "recordNone")
        // The question why is answered from this node's knowledge.
        #expect(try await stage.test.admin("requests/request-1").json["code"]?.text == "decisionUnknown")
    }

    @Test func `a record's outage is reported, and licenses work`() async throws {
        let stage = try await RecordStage()
        try await stage.test.importKeys([1])
        stage.record.set(.isAway)
        let reply = try await stage.test.admin("tenants/demo/report")
        #expect(reply.status == 503 && reply.json["code"]?.text == "recordAway", "\(reply.text)")
        let license = try await stage.test.license(1, token: try stage.test.token(), requestID: "request-1")
        #expect(license.status == 200)
        // The node's own knowledge needs no record.
        #expect(try await stage.test.admin("requests/request-1").json["source"]?.text == "decisions")
        let unknown = try await stage.test.admin("requests/request-2")
        #expect(unknown.status == 503 && unknown.json["reason"]?.text?.contains("record was not read") == true)
        stage.record.set(.answers)
        #expect(try await stage.test.admin("tenants/demo/report").status == 200)
    }

    @Test func `a record that hangs delays a few queries and no license`() async throws {
        let stage = try await RecordStage()
        try await stage.test.importKeys([1])
        stage.record.set(.hangs)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<RecordQueries.mostQuestions {
                group.addTask { try await stage.test.admin("tenants/demo/report").status }
            }
            while stage.record.waitingCount < RecordQueries.mostQuestions { await Task.yield() }
            let more = try await stage.test.admin("tenants/demo/report")
            #expect(more.status == 503 && more.json["code"]?.text == "recordBusy")
            let license = try await stage.test.license(1, token: try stage.test.token(), requestID: "request-1")
            #expect(license.status == 200)
            #expect(try await stage.test.admin("overview").status == 200)
            stage.record.set(.answers)
            for try await status in group { #expect(status == 200) }
        }
        #expect(try await stage.test.admin("tenants/demo/report").status == 200)
    }

    @Test func `one tenant's queries do not block another's`() async throws {
        let record = SwitchedRecord { Self.now }
        let queries = RecordQueries(.reporter(record), timekeeper: ManualTimekeeper())
        let most = RecordQueries.mostQuestions
        let refused = Locked(false)
        record.set(.hangs)
        @Sendable func ask(_ tenant: String) async throws {
            do { _ = try await queries.report(RecordReport(of: tenant, times: 0..<1, by: .day)) } catch {
                refused.withLock { $0 = true }
                throw error
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<most { group.addTask { try await ask("north") } }
            while record.waitingCount < most { await Task.yield() }
            for _ in 0..<most / 2 { group.addTask { try await ask("south") } }
            while record.waitingCount < most + most / 2, !refused.withLock({ $0 }) { await Task.yield() }
            #expect(record.waitingCount == most + most / 2)
            for tenant in ["north", "south"] {
                let error = await #expect(throws: AdminRefusal.self) { try await ask(tenant) }
                #expect(error?.code == "recordBusy")
            }
            record.set(.answers)
            try await group.waitForAll()
        }
    }

    @Test func `explain searches this node's decisions first, then the record of all nodes`()
        async throws
    {
        let stage = try await RecordStage()
        var refused = RecordStage.row(
            .refusal, at: Self.now - 48 * Self.hour, code: "sessionLimit", request: "request-old", node: "node-b")
        refused.reason = "Three sessions are in use."
        stage.record.add([refused])
        let reply = try await stage.test.admin("requests/request-old")
        #expect(reply.json["source"]?.text == "record" && reply.json["node"]?.text == "node-b", "\(reply.text)")
        #expect(reply.list("rows").first?["reason"]?.text == "Three sessions are in use.")
        #expect(reply.json["tenant"]?.text == "demo" && reply.json["asOf"] != nil)

        let unknown = try await stage.test.admin("requests/request-none")
        #expect(unknown.status == 404 && unknown.json["code"]?.text == "decisionNotRecorded")
        #expect(unknown.json["reason"]?.text?.contains("goes back to 2026-11-25T12:00:00Z") == true)
        // Of another node whose rows are under way.
        let id = "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f.node-b"
        let late = try await stage.test.admin("requests/\(id)")
        #expect(late.json["remedy"]?.text?.contains("last shipped rows at 2026-11-25T12:00:00Z") == true)
        let strange = try await stage.test.admin("requests/a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f.node-z")
        #expect(strange.json["remedy"]?.text?.contains("node-z, has no rows in the record") == true)
    }

    @Test func `a decision from the record is explained and replayed like one of the node's`() async throws {
        let stage = try await RecordStage()
        try await stage.test.importKeys([1])
        for number in 1...4 {
            _ = try await stage.test.license(1, token: try stage.test.token("ann"), requestID: "request-\(number)")
        }
        let own = try #require(stage.test.server.shared.decisions.record(of: "request-4"))
        // The same on a node that has forgotten it.
        var row = RecordStage.row(.refusal, at: Self.now - 1, code: "sessionLimit", request: "request-gone")
        row.decision = String(decoding: own.canonicalJSON, as: UTF8.self)
        stage.record.add([row])
        let why = try await stage.test.admin("requests/request-gone")
        #expect(why.json["record"]?["decision"]?["refusal"]?["code"]?.text == "sessionLimit", "\(why.text)")
        let policy = #"{"version":1,"concurrency":{"scope":"account","limit":9,"mode":"refuseNewest"}}"#
        let again = try await stage.test.admin("tenants/demo/decisions/request-gone/again", "POST", body: policy)
        #expect(again.json["before"]?.text == "sessionLimit" && again.json["after"]?.text == "license")
        let other = try await stage.test.admin("tenants/other/decisions/request-gone")
        #expect(other.status == 404)
    }

    @Test func `the report counts the rows that this node has not shipped`() {
        let standing = RecordStanding(oldest: 0, nodes: [.init("a", newest: 0), .init("b", newest: 9)], asOf: 900_000)
        func notes(_ unshipped: ReportNotes.Unshipped?, _ times: Range<Int64> = 0..<800_000) -> [String] {
            ReportNotes(on: times, standing, unshipped: unshipped).sentences
        }
        #expect(notes(nil).count == 2)
        let own = notes(.init(node: "a", rows: 12, oldest: 5_000))
        #expect(own.count == 2 && own[0].contains("node b last shipped") && own[1].contains("a has 12 rows"), "\(own)")
        #expect(notes(.init(node: "a", rows: 0, oldest: nil)).count == 1)
        // The waiting rows are newer than the range.
        #expect(notes(.init(node: "a", rows: 1, oldest: 700_000), 0..<600_000).count == 1)
    }
}
