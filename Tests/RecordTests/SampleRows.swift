import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting

@testable import LatchkeyVault

extension LicenseRecordRow {
    /// 2026-11-27T12:00:00Z.
    static let noon: Int64 = 1_795_780_800_000

    /// A row with its number in its request's identifier.
    static func sample(_ number: Int, time: Int64 = noon, _ event: Event = .license) -> Self {
        var row = Self(event, time: time)
        (row.tenant, row.account, row.requestID, row.content) = ("acme", "anna", "r\(number)", "film/\"1\"")
        return row
    }

    /// A row in which every member has a different value.
    static let full: Self = {
        var row = Self(.renewal, time: noon + 7)
        row.position = RecordPosition(node: "n\"1", spool: "00112233aabbccdd", sequence: 12)
        (row.cause, row.count, row.tenant, row.account, row.device) = (.replaced, 3, "acme", "änna\t\n\\", "d1")
        (row.address, row.country, row.content, row.kid, row.api) = ("10.0.0.0/24", "DE", "film", "k", "fairplay")
        (row.kind, row.seconds, row.policy, row.policyDigest, row.session) = ("lease", 300, "p", "ff", "s")
        (row.requestID, row.code, row.reason, row.microseconds) = ("r", "c", "It is “so”.", 1_234)
        row.decision = #"{"a":[1,true,null],"b":"x"}"#
        return row
    }()
}

extension RecordSpool.Portion {
    var requests: [String] {
        get throws { try batch.lines.map { try LicenseRecordRow(json: $0.json).requestID } }
    }
}

extension RecordSpool.Settings {
    /// A patience that no disk outlasts unless it hangs, even on a busy machine.
    static var patient: Self {
        var settings = Self()
        settings.patience = .seconds(900)
        return settings
    }
}

/// A spool's reports.
final class Told: Sendable {
    let events = Locked<[RecordSpool.Event]>([])

    var lost: [RecordSpool.Event] {
        events.withLock { $0 }.filter { if case .kept = $0 { false } else { true } }
    }
}

extension RecordSpool {
    /// All existing rows, each acknowledged.
    func drain(rows: Int = 5_000) throws -> [LicenseRecordRow] {
        var all: [LicenseRecordRow] = []
        while let portion = try next(rows: rows) {
            for line in portion.batch.lines {
                let row = try LicenseRecordRow(json: line.json)
                guard row.position.sequence == line.sequence, row.position.spool == portion.batch.spool,
                    row.time == line.time
                else { throw RecordRowError("The line is of another row.") }
                all.append(row)
            }
            acknowledge(portion)
        }
        return all
    }
}

/// A destination in memory that fails on a test's request: before the rows are stored, or after.
final class ShakyDestination: RecordDestination {
    enum Fault: Sendable { case before, after, refuses }

    struct State: Sendable {
        var rows: [RecordBatch.Line] = []
        var spools: [String] = []
        var positions: [String: UInt64] = [:]
        var calls = 0
        var kept: [Int] = []
        var daysFault: StoreError.Kind?
    }

    let engine = "shaky"
    let interval = Duration.milliseconds(250)
    let state = Locked(State())
    private let fault: @Sendable (Int, RecordBatch) -> Fault?

    /// - Parameter fault: the event at a call, by its number from 0.
    init(_ fault: @escaping @Sendable (Int, RecordBatch) -> Fault? = { _, _ in nil }) { self.fault = fault }

    func take(_ batch: RecordBatch) async throws(StoreError) -> UInt64 {
        let call = state.withLock { state in
            defer { state.calls += 1 }
            return state.calls
        }
        let fault = fault(call, batch)
        let gone = StoreError(.unavailable, engine, reason: "It is gone.")
        if fault == .before { throw gone }
        if fault == .refuses { throw StoreError(.unfit, engine, reason: "It takes no such row.") }
        let position = state.withLock { state -> UInt64 in
            let lines = batch.lines(after: state.positions[batch.spool] ?? 0)
            state.rows += lines
            state.spools += lines.map { _ in batch.spool }
            if let last = lines.last?.sequence { state.positions[batch.spool] = last }
            return state.positions[batch.spool] ?? 0
        }
        if fault == .after { throw gone }
        return position
    }

    func keepDays(today: Int, days: Int?) async throws(StoreError) -> Int {
        let fault = state.withLock { state in
            state.kept.append(today)
            return state.daysFault
        }
        if let fault { throw StoreError(fault, engine, reason: "It drops no day.") }
        return 0
    }

    func erase(_ erasure: RecordErasure) async throws(StoreError) -> Int { 0 }
    func count(_ erasure: RecordErasure) async throws(StoreError) -> Int { 0 }
    func findings() async -> [StoreError] { [] }
    func close() {}

    /// The requests' identifiers of the rows, in their order.
    var requests: [String] {
        get throws { try state.withLock { $0.rows }.map { try LicenseRecordRow(json: $0.json).requestID } }
    }
}
