import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

/// Erasing an account from files: of the record, of a spool, and of rows that the record refused.
@Suite(.timeLimit(.minutes(1))) struct RecordErasureTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("record") }

    init() throws { folder = try TemporaryFolder() }

    /// A stand-in of the keyed digest.
    private static let digest: RecordErasure.Digest = { "digest-of-\($1)-\($0.count)" }

    private static func erasure(_ names: Set<String>, before end: Int64 = .max) -> RecordErasure {
        RecordErasure(names, of: "acme", before: end, digest: digest)
    }

    private static func batch(_ numbers: ClosedRange<Int>, _ change: (Int, inout LicenseRecordRow) -> Void)
        -> RecordBatch
    {
        let spool = "00112233aabbccdd"
        return RecordBatch(
            node: "n1", spool: spool,
            lines: numbers.map { number in
                var row = LicenseRecordRow.full
                row.time = LicenseRecordRow.noon + Int64(number) * 40_000_000
                row.position = RecordPosition(node: "n1", spool: spool, sequence: UInt64(number))
                change(number, &row)
                return RecordBatch.Line(sequence: UInt64(number), time: row.time, json: row.json)
            })
    }

    /// Two rows of `eve`, one of another account, one of `eve` at another tenant.
    private func files() async throws -> (files: RecordFiles, rows: [LicenseRecordRow]) {
        let files = RecordFiles(folder: path, digest: Self.digest)
        for number in 1...4 {
            let batch = Self.batch(number...number) { number, row in
                row.account = number == 3 ? "otto" : "eve \"x\""
                (row.tenant, row.decision) = (number == 4 ? "other" : "acme", #"{"by":"\#(row.account.count)"}"#)
            }
            #expect(try await files.take(batch) == number)
        }
        return (files, try await rows(files))
    }

    private func rows(_ files: RecordFiles) async throws -> [LicenseRecordRow] {
        try await files.rows(RecordQuery(times: 0..<(.max))).reversed()
    }

    @Test func `an erased account's rows keep what bills count, and all other rows stay`() async throws {
        let (files, before) = try await files()
        let erasure = Self.erasure(["eve \"x\"", "0f0f"])
        #expect(try await files.count(erasure) == 2)
        #expect(try await rows(files) == before)
        #expect(try await files.erase(erasure) == 2)
        let after = try await rows(files)
        #expect(Array(after[2...]) == Array(before[2...]))
        for (row, former) in zip(after, before).prefix(2) {
            #expect(
                [row.account, row.device, row.address, row.session, row.requestID, row.reason]
                    == Array(repeating: "", count: 6))
            #expect(row.decision == nil)
            var whole = row
            (whole.account, whole.device, whole.address) = (former.account, former.device, former.address)
            (whole.session, whole.requestID, whole.reason) = (former.session, former.requestID, former.reason)
            whole.decision = former.decision
            #expect(whole == former)
        }
        #expect(try await files.erase(erasure) == 0)
        #expect(try await files.count(erasure) == 0)
    }

    @Test func `rows that arrive later lose an erased account if they are from before its erasure`() async throws {
        let (files, now) = (RecordFiles(folder: path, digest: Self.digest), Int64(Date().timeIntervalSince1970 * 1_000))
        #expect(try await files.erase(Self.erasure(["eve"], before: now)) == 0)
        // Another process, which knows only the folder.
        let other = RecordFiles(folder: path, digest: Self.digest)
        _ = try await other.take(
            Self.batch(1...3) { number, row in
                (row.tenant, row.account) = ("acme", number == 2 ? "otto!" : "eve")
                row.time = now + Int64(number == 3 ? 0 : -1)
            })
        #expect(try await rows(files).map(\.account) == ["", "otto!", "eve"])
    }

    @Test(arguments: [(30, ""), (32, "eve")])
    func `an erasure is forgotten after 30 days`(_ days: Int, _ account: String) async throws {
        let noon = LicenseRecordRow.noon
        let day = Locked(Int(noon / 86_400_000))
        let files = RecordFiles(folder: path, digest: Self.digest, clock: { _ in day.withLock { $0 } })
        #expect(try await files.erase(Self.erasure(["eve"], before: noon)) == 0)
        // A crash tore the last line.
        let file = try FileHandle(forWritingTo: URL(filePath: "\(path)/erasures"))
        try file.seekToEnd()
        try file.write(contentsOf: Data("digest".utf8))
        day.withLock { $0 += days }
        #expect(try await files.erase(Self.erasure(["otto"], before: noon)) == 0)
        for (number, name) in [(1, "eve"), (2, "otto")] {
            let batch = Self.batch(number...number) { (_, row) in
                (row.tenant, row.account, row.time) = ("acme", name, noon - 1)
            }
            #expect(try await files.take(batch) == number)
        }
        #expect(Set(try await rows(files).map(\.account)) == [account, days > 30 ? "otto" : ""])
    }

    @Test func `a line that cannot be read and may name the account is reported`() async throws {
        let (files, _) = try await files()
        let odd = #"{"v":9,"event":"later","account":"eve \"x\""}"# + "\n"
        try Data(odd.utf8).write(to: URL(filePath: "\(path)/2026-11-27/n1-00112233aabbccdd-9-9.jsonl"))
        let error = await #expect(throws: StoreError.self) { try await files.erase(Self.erasure(["eve \"x\""])) }
        #expect(error?.kind == .damaged && error?.reason.hasPrefix("1 line ") == true)
        #expect(try await rows(files).prefix(2).map(\.account) == ["", ""])
    }

    @Test func `shipped rows leave the disk at the end, and refused ones lose the account`() async throws {
        let spool = try RecordSpool(folder: path, node: "n1", .patient)
        let destination = ShakyDestination { _, batch in
            batch.lines.contains { String(decoding: $0.json, as: UTF8.self).contains("refused") } ? .refuses : nil
        }
        let shipper = RecordShipper(spool, folder: path, to: destination, health: EngineHealth("record"))
        for number in 1...3 {
            var row = LicenseRecordRow.sample(number)
            (row.account, row.code) = (number == 3 ? "otto" : "eve", number == 1 ? "" : "refused")
            await spool.append(row)
        }
        await shipper.finish()
        let names = Self.erasure(["eve"])
        #expect(try await shipper.erase(names, isTrial: true) == 1)
        #expect(try traces("eve") == ["refused.jsonl"])
        #expect(try await shipper.erase(names, isTrial: false) == 1)
        await shipper.finish()
        #expect(try traces("eve") == [] && traces("otto") == ["refused.jsonl"])
        #expect(try await shipper.erase(names, isTrial: false) == 0)
        // The next row begins another file.
        #expect(await spool.append(.sample(4)) == .kept)
        await shipper.finish()
        #expect(try destination.requests == ["r1", "r4"])
    }

    @Test func `a shipped row leaves the disk with its file, which an unshipped one keeps`() async throws {
        let spool = try RecordSpool(folder: path, node: "n1", .patient)
        await spool.append(.sample(1))
        await spool.endFile()
        await spool.append(.sample(2))
        let portion = try #require(try spool.next())
        #expect(portion.batch.lines.count == 2)
        spool.acknowledge(portion)
        #expect(try spool.next() == nil && traces("anna") == ["rows"])
        await spool.endFile()
        #expect(try spool.next() == nil && traces("anna") == [])
        await spool.append(.sample(3))
        #expect(try spool.drain().map(\.position.sequence) == [3])
    }

    /// The files of the folder with a text; the spool's own by their kind.
    private func traces(_ text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted().filter {
            try Data(contentsOf: URL(filePath: "\(path)/\($0)")).range(of: Data("\"\(text)\"".utf8)) != nil
        }.map { $0.hasSuffix(".rows") ? "rows" : $0 }.sorted()
    }
}
