import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(2))) struct RecordShipperTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("spool") }

    init() throws { folder = try TemporaryFolder() }

    /// Ships until a destination has some rows.
    private func ship(
        _ spool: RecordSpool, to destination: ShakyDestination, health: EngineHealth = EngineHealth("record"),
        report: @escaping @Sendable (RecordShipper.Event) -> Void = { _ in }, until isDone: () -> Bool
    ) async {
        let time = ManualTimekeeper()
        let shipper = RecordShipper(
            spool, folder: path, to: destination, health: health, timekeeper: time, report: report)
        let task = Task { await shipper.run() }
        while !isDone() {
            time.advance(by: .seconds(5))
            await Task.yield()
        }
        task.cancel()
        await task.value
    }

    /// The folder's next spool, once the threads of the previous one have released it.
    private func reopened() async throws -> RecordSpool {
        while true {
            do { return try RecordSpool(folder: path, node: "n", .patient) } catch {
                guard error.code == "recordFolderTaken" else { throw error }
                await Task.yield()
            }
        }
    }

    private struct Point: Sendable, CustomTestStringConvertible {
        let call: Int
        let fault: ShakyDestination.Fault
        let restarts: Bool

        var testDescription: String { "\(fault) call \(call)\(restarts ? ", then a restart" : "")" }

        static let all = (0..<5).flatMap { call in
            [ShakyDestination.Fault.before, .after].flatMap { fault in
                [false, true].map { Point(call: call, fault: fault, restarts: $0) }
            }
        }
    }

    @Test(arguments: Point.all)
    private func `each row arrives once, wherever the destination fails and whether or not the process ends`(
        _ point: Point
    ) async throws {
        let failed = Locked(false)
        let destination = ShakyDestination { call, _ in
            guard call == point.call else { return nil }
            failed.withLock { $0 = true }
            return point.fault
        }
        let wanted = (1...12).map { "r\($0)" }
        do {
            let spool = try RecordSpool(folder: path, node: "n", .patient)
            // Each day is its own batch.
            for number in 1...12 {
                await spool.append(.sample(number, time: LicenseRecordRow.noon + Int64(number / 3) * 86_400_000))
            }
            await ship(spool, to: destination) {
                point.restarts
                    ? failed.withLock { $0 }
                    : destination.state.withLock { $0.rows.count } >= 12 && spool.standing.rows == 0
            }
        }
        if point.restarts {
            // An acknowledgment may be forgotten, because the disk need not have it.
            if point.call.isMultiple(of: 2) { try? FileManager.default.removeItem(atPath: "\(path)/acknowledged") }
            let spool = try await reopened()
            await spool.append(.sample(13))
            await ship(spool, to: destination) { spool.standing.rows == 0 }
            #expect(try destination.requests == wanted + ["r13"])
        } else {
            #expect(try destination.requests == wanted)
        }
        #expect(failed.withLock { $0 })
    }

    @Test func `a destination's outage shows in its health, and shipping resumes`() async throws {
        let isAway = Locked(true)
        let destination = ShakyDestination { _, _ in isAway.withLock { $0 } ? .before : nil }
        let health = EngineHealth("record")
        let spool = try RecordSpool(folder: path, node: "n", .patient)
        await spool.append(.sample(1))
        await ship(spool, to: destination, health: health) {
            guard health.isAway else { return false }
            return true
        }
        isAway.withLock { $0 = false }
        await ship(spool, to: destination, health: health) { spool.standing.rows == 0 }
        #expect(!health.isAway && health.standing.lastError?.reason == "It is gone.")
        #expect(try destination.requests == ["r1"])
    }

    @Test func `a row that the destination refuses is set aside, and blocks no other`() async throws {
        let destination = ShakyDestination { _, batch in
            batch.lines.contains { String(decoding: $0.json, as: UTF8.self).contains(#""r3""#) } ? .refuses : nil
        }
        let (spool, refused) = (try RecordSpool(folder: path, node: "n", .patient), Locked(0))
        for number in 1...5 { await spool.append(.sample(number)) }
        await ship(
            spool, to: destination,
            report: { if case .refused = $0 { refused.withLock { $0 += 1 } } }, until: { spool.standing.rows == 0 })
        #expect(try destination.requests == ["r1", "r2", "r4", "r5"])
        #expect(refused.withLock { $0 } == 1)
        let aside = try Data(contentsOf: folder.file("spool/refused.jsonl")).dropLast()
        #expect(try LicenseRecordRow(json: aside).requestID == "r3")
    }

    @Test func `days are maintained at the start and each hour`() async throws {
        let (destination, time) = (ShakyDestination(), ManualTimekeeper())
        let spool = try RecordSpool(folder: path, node: "n", .patient)
        let shipper = RecordShipper(
            spool, folder: path, to: destination, health: EngineHealth("record"), days: 3, timekeeper: time)
        let task = Task { await shipper.run() }
        while destination.state.withLock({ $0.kept.count }) < 1 { await Task.yield() }
        while destination.state.withLock({ $0.kept.count }) < 2 {
            time.advance(by: .seconds(600))
            await Task.yield()
        }
        task.cancel()
        await task.value
        #expect(destination.state.withLock { $0.kept[0] } == 20_454)
        #expect(time.uptime >= .seconds(3_600))
    }

    @Test(arguments: [(StoreError.Kind.unavailable, 120), (.misconfigured, 7_200)])
    func `days that cannot be dropped are retried after a while, and are a separate outage`(
        _ fault: StoreError.Kind, _ seconds: Int
    ) async throws {
        let (destination, time, failed) = (ShakyDestination(), ManualTimekeeper(), Locked(0))
        destination.state.withLock { $0.daysFault = fault }
        let health = EngineHealth("record")
        let spool = try RecordSpool(folder: path, node: "n", .patient)
        let shipper = RecordShipper(
            spool, folder: path, to: destination, health: health, days: 3, timekeeper: time
        ) { if case .failed = $0 { failed.withLock { $0 += 1 } } }
        let began = time.uptime
        let task = Task { await shipper.run() }
        while destination.state.withLock({ $0.kept.count }) < 3 {
            time.advance(by: .seconds(seconds / 60))
            await Task.yield()
        }
        task.cancel()
        await task.value
        #expect(time.uptime - began >= .seconds(seconds))
        #expect(health.isAway(for: .days) && !health.isAway(for: .write))
        if fault != .unavailable { #expect(failed.withLock { $0 } >= 2) }
    }
}
