import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(2))) struct RecordSpoolTests {
    let folder: TemporaryFolder
    var path: String { folder.path("spool") }

    init() throws { folder = try TemporaryFolder() }

    func spool(
        _ told: Told = Told(), at seconds: TimeInterval = 1_795_780_800,
        _ change: (inout RecordSpool.Settings) -> Void = { _ in }
    ) throws -> RecordSpool {
        var settings = RecordSpool.Settings.patient
        change(&settings)
        let date = Date(timeIntervalSince1970: seconds)
        return try RecordSpool(folder: path, node: "n1", settings, date: date) { event in
            told.events.withLock { $0.append(event) }
        }
    }

    var segments: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".rows") }.sorted()
        }
    }

    @Test(arguments: RecordSpool.Sync.allCases)
    func `rows come back in order, once, and are counted`(_ sync: RecordSpool.Sync) async throws {
        let spool = try spool { $0.sync = sync }
        for number in 1...10 { #expect(await spool.append(.sample(number)) == .kept) }
        #expect(spool.standing.rows == 10 && spool.standing.oldest == LicenseRecordRow.noon)
        let rows = try spool.drain(rows: 3)
        #expect(rows.map(\.requestID) == (1...10).map { "r\($0)" })
        #expect(rows.map(\.position.sequence) == Array(1...10))
        #expect(Set(rows.map(\.position.node)) == ["n1"])
        #expect(spool.standing.rows == 0 && spool.standing.oldest == nil)
        #expect(try spool.next() == nil)
        await spool.append(.sample(11))
        #expect(try spool.drain().map(\.requestID) == ["r11"])
    }

    @Test func `a process's leftover rows ship before the next one's rows, without acknowledged ones`()
        async throws
    {
        do {
            let first = try spool()
            for number in 1...6 { await first.append(.sample(number)) }
            let portion = try #require(try first.next(rows: 2))
            first.acknowledge(portion)
            // As after a crash: it is not closed.
            first.leaveFolder()
        }
        let second = try spool()
        #expect(second.standing.rows == 4)
        await second.append(.sample(7))
        let rows = try second.drain()
        #expect(rows.map(\.requestID) == ["r3", "r4", "r5", "r6", "r7"])
        #expect(rows.map(\.position.sequence) == [3, 4, 5, 6, 1])
        #expect(rows[0].position.spool != rows[4].position.spool)
        #expect(try segments.count == 1)
    }

    @Test
    func `a clock set back between two processes loses no row, and resends no acknowledged one`()
        async throws
    {
        do {
            let first = try spool(at: 20_000)
            for number in 1...6 { await first.append(.sample(number)) }
            first.acknowledge(try #require(try first.next(rows: 2)))
            first.leaveFolder()
        }
        do {
            let second = try spool(at: 15_000)
            for number in 7...9 { await second.append(.sample(number)) }
            await second.close()
            second.leaveFolder()
        }
        do {
            let third = try spool(at: 30_000)
            #expect(third.standing.rows == 7)
            // The older name comes first.
            let portion = try #require(try third.next(rows: 2))
            #expect(try portion.requests == ["r7", "r8"])
            third.acknowledge(portion)
            third.leaveFolder()
        }
        let fourth = try spool(at: 10_000)
        #expect(fourth.standing.rows == 5)
        #expect(try fourth.drain().map(\.requestID) == ["r9", "r3", "r4", "r5", "r6"])
        #expect(try segments.isEmpty)
    }

    @Test func `files a spool shipped before its acknowledged one are removed at the next start, and no other's`()
        async throws
    {
        var shipped: [String: Data] = [:]
        do {
            let first = try spool(at: 20_000) { $0.bytes = 32_768 }
            for number in 1...60 { await first.append(.sample(number)) }
            for name in try segments.dropLast() { shipped[name] = try Data(contentsOf: folder.file("spool/\(name)")) }
            try #require(shipped.count > 1)
            while try segments.count > 1 { first.acknowledge(try #require(try first.next(rows: 10))) }
            first.acknowledge(try #require(try first.next(rows: 1)))
            first.leaveFolder()
        }
        let rest = try spool(at: 20_000).standing.rows
        // As after a power cut that the folder's names did not live through.
        for (name, bytes) in shipped { try bytes.write(to: folder.file("spool/\(name)")) }
        let second = try spool(at: 15_000)
        #expect(second.standing.rows == rest)
        #expect(try segments.count == 1)
    }

    @Test func `after a torn acknowledgement the rows are sent again`() async throws {
        do {
            let first = try spool()
            for number in 1...4 { await first.append(.sample(number)) }
            first.acknowledge(try #require(try first.next(rows: 2)))
            first.leaveFolder()
        }
        let whole = try Data(contentsOf: folder.file("spool/acknowledged"))
        for end in 0...whole.count {
            try whole.prefix(end).write(to: folder.file("spool/acknowledged"))
            let next = try spool()
            #expect(next.standing.rows == (end == whole.count ? 2 : 4), "cut at \(end)")
            next.leaveFolder()
        }
    }

    @Test(arguments: ["a folder", "a link to nothing", "a link to a device"])
    func `an unreadable file of rows prevents the start, and is named`(_ what: String) throws {
        try spool().leaveFolder()
        let file = "\(path)/0000000020000-00112233aabbccdd-000000000001.rows"
        if what == "a folder" {
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        } else {
            let end = what == "a link to nothing" ? "\(path)/nothing" : "/dev/null"
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: end)
        }
        let error = #expect(throws: FileError.self) { try spool() }
        #expect(error?.code == "cannotRead" && error?.reason.contains(file) == true)
        #expect(error?.remedy.contains("rows of the record") == true)
    }

    @Test func `a missing file loses as many rows as were not acknowledged`() async throws {
        let told = Told()
        let spool = try spool(told)
        for number in 1...100 { await spool.append(.sample(number)) }
        let portion = try #require(try spool.next(rows: 30))
        spool.acknowledge(portion)
        let left = spool.standing.bytes
        try FileManager.default.removeItem(atPath: "\(path)/\(try #require(try segments.first))")
        #expect(try spool.drain().isEmpty && spool.standing.rows == 0)
        guard case .damaged(_, let bytes, 70, false)? = told.lost.first else {
            Issue.record("\(told.lost)")
            return
        }
        #expect(bytes > 0 && bytes < left)
    }

    @Test func `a cut file loses as many rows as are not in it`() async throws {
        let told = Told()
        let spool = try spool(told)
        for number in 1...100 { await spool.append(.sample(number)) }
        let file = "\(path)/\(try #require(try segments.first))"
        let whole = try Data(contentsOf: URL(filePath: file))
        // Forty rows, and a part of the next one.
        let end = whole.indices.filter { whole[$0] == UInt8(ascii: "\n") }[39] + 10
        try whole.prefix(end).write(to: URL(filePath: file))
        #expect(try spool.drain().count == 40)
        guard case .damaged(file, _, 60, false)? = told.lost.first else {
            Issue.record("\(told.lost)")
            return
        }
        #expect(told.lost.count == 1)
    }

    @Test func `a row torn by a crash is cut wherever it is torn, and reported`() async throws {
        do {
            let first = try spool()
            for number in 1...3 { await first.append(.sample(number)) }
            await first.close()
            first.leaveFolder()
        }
        let name = try #require(try segments.first)
        let whole = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
        let last = try #require(whole.dropLast().lastIndex(of: UInt8(ascii: "\n"))) + 1
        for end in last..<whole.count {
            try whole[..<end].write(to: URL(filePath: "\(path)/\(name)"))
            let told = Told()
            // A program that another test starts just now has a copy of the file, and with it the lock.
            let next = try spool(told)
            let rows = try next.drain()
            next.leaveFolder()
            #expect(rows.map(\.requestID) == ["r1", "r2"], "cut at \(end)")
            let expected: [RecordSpool.Event] =
                end == last ? [] : [.damaged(file: "\(path)/\(name)", bytes: end - last, rows: 1, isEnd: true)]
            #expect(told.lost == expected, "cut at \(end)")
            try? FileManager.default.removeItem(atPath: "\(path)/acknowledged")
        }
    }

    @Test func `a row with a flipped bit is omitted and reported, and the others remain`() async throws {
        do {
            let first = try spool()
            for number in 1...3 { await first.append(.sample(number)) }
            await first.close()
            first.leaveFolder()
        }
        let name = try #require(try segments.first)
        let whole = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
        let lines = whole.split(separator: UInt8(ascii: "\n"))
        for index in lines[1].startIndex..<lines[1].endIndex {
            var damaged = whole
            // Never a newline, which would be two rows.
            damaged[index] ^= damaged[index] ^ 0x40 == UInt8(ascii: "\n") ? 0x01 : 0x40
            try damaged.write(to: URL(filePath: "\(path)/\(name)"))
            let told = Told()
            let next = try spool(told)
            #expect(try next.drain().map(\.requestID) == ["r1", "r3"], "byte \(index)")
            next.leaveFolder()
            #expect(told.lost == [.damaged(file: "\(path)/\(name)", bytes: lines[1].count, rows: 1, isEnd: false)])
            try? FileManager.default.removeItem(atPath: "\(path)/acknowledged")
        }
    }

    @Test(arguments: [LicenseRecordRow.endOfTime - 1, LicenseRecordRow.endOfTime, .max])
    func `a row of the year 9999 is shipped to its day, and a later one is lost by name`(_ time: Int64)
        async throws
    {
        do {
            let first = try spool()
            var row = LicenseRecordRow.sample(1)
            await first.append(row)
            row.time = time
            await first.append(row)
            await first.close()
            first.leaveFolder()
        }
        let told = Told()
        let rows = try spool(told).drain()
        let isShipped = time < LicenseRecordRow.endOfTime
        #expect(rows.map(\.time) == [LicenseRecordRow.sample(1).time] + (isShipped ? [time] : []))
        #expect(told.lost.count == (isShipped ? 0 : 1))
    }

    @Test func `a file that became shorter, or is gone, is noted and blocks no other`() async throws {
        let told = Told()
        let spool = try spool(told)
        await spool.append(.sample(1))
        try Data().write(to: URL(filePath: "\(path)/\(try #require(try segments.first))"))
        #expect(try spool.drain().isEmpty)
        #expect(told.lost.count == 1)
        await spool.append(.sample(2))
        try FileManager.default.removeItem(atPath: "\(path)/\(try #require(try segments.first))")
        #expect(try spool.drain().isEmpty)
        #expect(told.lost.count == 2)
        await spool.append(.sample(3))
        #expect(try spool.drain().map(\.requestID) == ["r3"])
    }

    @Test func `a full spool loses rows and says so, and takes more once some are shipped`() async throws {
        let told = Told()
        let spool = try spool(told) { $0.bytes = 32_768 }
        var kept = 0
        while await spool.append(.sample(kept + 1)) == .kept { kept += 1 }
        #expect(kept > 50 && spool.standing.bytes <= 32_768 && spool.standing.isFull)
        #expect(await spool.append(.sample(0)) == .lost(.full))
        #expect(told.lost == [.lost(.full, 1, reason: ""), .lost(.full, 1, reason: "")])
        #expect(try spool.drain().count == kept)
        #expect(!spool.standing.isFull)
        #expect(await spool.append(.sample(kept + 1)) == .kept)
        #expect(try spool.drain().map(\.requestID) == ["r\(kept + 1)"])
    }

    @Test func `many concurrent tasks add each row once`() async throws {
        let spool = try spool { $0.bytes = 8 << 20 }
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<250 { _ = await spool.append(.sample(task * 250 + number)) }
                }
            }
        }
        let rows = try spool.drain()
        #expect(rows.map(\.position.sequence) == Array(1...2_000))
        #expect(Set(rows.map(\.requestID)).count == 2_000)
    }

    @Test func `rows of two days are not in one batch`() async throws {
        let spool = try spool()
        for (number, day) in [0, 0, 1, 0].enumerated() {
            await spool.append(.sample(number, time: LicenseRecordRow.noon + Int64(day) * 86_400_000))
        }
        var sizes: [Int] = []
        while let portion = try spool.next() {
            sizes.append(portion.batch.lines.count)
            #expect(Set(portion.batch.lines.map(\.day)).count == 1)
            spool.acknowledge(portion)
        }
        #expect(sizes == [2, 1, 1])
    }

    @Test func `another process does not get the folder`() throws {
        let held = try spool()
        let error = #expect(throws: FileError.self) { try spool() }
        #expect(error?.code == "recordFolderTaken")
        withExtendedLifetime(held) {}
    }
}
