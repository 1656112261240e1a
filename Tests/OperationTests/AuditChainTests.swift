import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeySystem
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct AuditChainTests {
    private let clock = ManualTimekeeper()

    /// An audit with fixed answers, like one that was tampered with.
    private struct FixedAudit: AuditStore {
        let engine = "fixed"
        let all: [AuditEntry]
        func append(_ entry: AuditEntry) async throws(StoreError) -> Bool { false }
        func last() async throws(StoreError) -> AuditEntry? { all.last }
        func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry] {
            Array(all.dropFirst(Int(sequence) - 1).prefix(limit))
        }
    }

    private func chain(_ count: Int, in store: MemoryAuditStore = MemoryAuditStore()) async throws -> [AuditEntry] {
        let chain = AuditChain(store, timekeeper: clock)
        for number in 0..<count {
            try await chain.append(
                AuditEvent(.keyImported, of: "a/key-\(number)", by: "node:1", details: ["from": "seed"]))
            clock.advance(by: .milliseconds(1_500))
        }
        return try await store.entries(from: 1, limit: 1_000)
    }

    @Test func `an entry has the contract's canonical text and hash`() async throws {
        let entry = try #require(await chain(1).first)
        #expect(
            entry.text
                == #"{"action":"keyImported","actor":"node:1","details":{"from":"seed"},"object":"a/key-0","time":"2026-01-01T00:00:00Z"}"#
        )
        #expect(entry.sequence == 1)
        #expect(entry.previous == [UInt8](repeating: 0, count: 32))
        // printf '%064d%016x' 0 1 | xxd -r -p, and the text behind it, through sha256sum.
        #expect(entry.hash.hexString == "c334032e60a63da6a12a6bdcbb6c821da9af9e9315d84b829527a936aa78506e")
    }

    @Test func `a whole audit is intact, over pages too`() async throws {
        let store = MemoryAuditStore()
        let entries = try await chain(700, in: store)
        let verdict = try await AuditChain.verify(store, knowing: AuditAnchor(entries[400]))
        #expect(verdict == .intact(last: entries.last))
        #expect("\(verdict)" == "The audit is intact up to entry 700.")
        #expect(try await AuditChain.verify(MemoryAuditStore()) == .intact(last: nil))
    }

    @Test func `an audit is checked step by step, and from its start again after each verdict`() async throws {
        let entries = try await chain(700)
        var damaged = entries
        damaged.remove(at: 600)
        let (whole, broken) = (FixedAudit(all: entries), FixedAudit(all: damaged))
        var walk = AuditWalk()
        for _ in 0..<2 {
            for expected in [nil, nil, AuditVerdict.intact(last: entries.last)] {
                #expect(try await walk.step(through: whole, knowing: nil) == expected)
            }
            for expected in [nil, AuditVerdict.broken(at: 601, .missing)] {
                #expect(try await walk.step(through: broken, knowing: nil) == expected)
            }
        }
    }

    @Test func `any changed byte is found at its entry`() async throws {
        let entries = try await chain(6)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<600 {
            let place = Int.random(in: entries.indices, using: &generator)
            var all = entries
            all[place] = changed(entries[place], using: &generator)
            guard case .broken(let number, let kind) = try await AuditChain.verify(FixedAudit(all: all)) else {
                Issue.record("not found: \(all[place])")
                continue
            }
            // A lower number that another entry had is met as soon; nothing else moves the place.
            #expect(number == UInt64(place) + 1, "\(kind)")
        }
    }

    private func changed(_ entry: AuditEntry, using generator: inout SeededGenerator) -> AuditEntry {
        let bit = UInt8(1) << UInt8.random(in: 0..<7, using: &generator)
        var (sequence, text, previous, hash) = (entry.sequence, Array(entry.text.utf8), entry.previous, entry.hash)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: sequence ^= 1 << UInt64.random(in: 0..<64, using: &generator)
        case 1: text[Int.random(in: text.indices, using: &generator)] ^= bit
        case 2: previous[Int.random(in: 0..<32, using: &generator)] ^= bit
        default: hash[Int.random(in: 0..<32, using: &generator)] ^= bit
        }
        return AuditEntry(
            sequence: sequence, text: String(decoding: text, as: UTF8.self), previous: previous, hash: hash)
    }

    @Test func `the first break is named`() async throws {
        let entries = try await chain(5)
        let other = try await chain(5)
        #expect(entries[2] != other[2])
        let forged = try AuditEntry("{}", after: other[1])
        let cases: [([AuditEntry], AuditVerdict)] = [
            (Array(entries[..<2] + entries[3...]), .broken(at: 3, .missing)),
            ([entries[0], entries[2], entries[1], entries[3]], .broken(at: 2, .missing)),
            ([entries[0], entries[1], entries[1], entries[2]], .broken(at: 3, .reordered)),
            (Array(entries[..<2] + [forged] + entries[3...]), .broken(at: 3, .foreignHash)),
            (Array(entries[1...]), .broken(at: 1, .missing)),
            (Array(entries[..<4]), .broken(at: 5, .cutOff)),
            (other, .broken(at: 5, .changed)),
        ]
        for (all, expected) in cases {
            let verdict = try await AuditChain.verify(FixedAudit(all: all), knowing: AuditAnchor(entries[4]))
            #expect(verdict == expected)
        }
    }

    @Test func `two concurrent nodes make one chain`() async throws {
        let store = MemoryAuditStore()
        let nodes = [AuditChain(store, timekeeper: clock), AuditChain(store, timekeeper: clock)]
        let numbers = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let entry = try await nodes[number % 2].append(
                        AuditEvent(.keyDisabled, of: "\(number)", by: "admin:\(number % 2)"))
                    return try #require(entry).sequence
                }
            }
            return try await group.reduce(into: Set<UInt64>()) { $0.insert($1) }
        }
        #expect(numbers == Set(1...100))
        guard case .intact(let last) = try await AuditChain.verify(store) else {
            return #expect(Bool(false), "broken") as Void
        }
        #expect(last?.sequence == 100)
    }

    @Test func `a node cancelled while adding still adds`() async throws {
        let store = MemoryAuditStore()
        let chain = AuditChain(store, timekeeper: clock)
        let task = Task { try await chain.append(AuditEvent(.adminLogin, of: "console", by: "admin:1")) }
        task.cancel()
        _ = try await task.value
        #expect(try await store.last()?.sequence == 1)
    }

    @Test func `an entry that never gets its number is an error`() async throws {
        let entries = try await chain(1)
        let chain = AuditChain(FixedAudit(all: entries), timekeeper: clock)
        await #expect(
            throws: StoreError(.unavailable, "fixed", reason: "Other writers took the entry's number 100 times.")
        ) {
            try await chain.append(AuditEvent(.adminLogin, of: "console", by: "admin:1"))
        }
    }

    @Test func `a full memory refuses, and an event's text stays one short line`() async throws {
        let store = MemoryAuditStore(limit: 1)
        let chain = AuditChain(store, timekeeper: clock)
        let long = String(repeating: "x\n", count: 5_000)
        let entry = try #require(
            try await chain.append(AuditEvent(.deviceForgotten, of: long, by: long, details: [long: long])))
        #expect(entry.text.utf8.count < 10_000)
        #expect(!entry.text.contains("\n"))
        await #expect(throws: StoreError.self) {
            try await chain.append(AuditEvent(.deviceForgotten, of: "a", by: "b"))
        }
    }
}
