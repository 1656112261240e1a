import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import LatchkeySystem

/// The behavior of every `RecordStore`, whichever engine it has.
@Suite(.timeLimit(.minutes(5))) struct RecordStoreConformanceTests {
    private let key = RecordKey(.account, tenant: "acme", name: "anna")

    @Test(arguments: Engine.ofRecords)
    func `eight writers lose no change`(_ engine: Engine) async throws {
        try await engine.open { stores async throws in
            let records = stores.records
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<1_000 {
                            try await records.change(key) { bytes in
                                let number = (bytes ?? [0, 0]).reduce(0) { $0 << 8 | Int($1) } + 1
                                return [UInt8(number >> 8), UInt8(number & 0xff)]
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await records.read(key).record?.bytes == [0x1f, 0x40])
        }
    }

    @Test(arguments: Engine.ofRecords)
    func `a write with another version than the record's changes nothing`(_ engine: Engine) async throws {
        try await engine.open { stores async throws in
            let records = stores.records
            #expect(try await records.put("anna", [1]))
            #expect(try await records.put("anna", [2]) == false)
            let reading = try await records.read(key)
            let version = try #require(reading.record?.version)
            let next = Record(version: version + 10, bytes: [3])
            let end = reading.now + 60
            #expect(try await records.write(next, at: key, replacing: version + 1, until: end) == false)
            #expect(try await records.read(key).record?.bytes == [1])
            #expect(try await records.write(next, at: key, replacing: version, until: end))
            #expect(try await records.read(key).record == next)
            #expect(try await records.remove(key, version: version) == false)
            #expect(try await records.remove(key, version: next.version))
            #expect(try await records.remove(key, version: next.version) == false)
            #expect(try await records.read(key).record == nil)
        }
    }

    @Test(arguments: Engine.ofRecords)
    func `a record that has ended by the engine's clock is not returned`(_ engine: Engine) async throws {
        try await engine.open { stores async throws in
            let records = stores.records
            let before = try await records.read(key)
            let first = Record(version: before.nextVersion, bytes: [1])
            #expect(try await records.write(first, at: key, replacing: nil, until: before.now - 0.001))
            let reading = try await records.read(key)
            #expect(reading.record == nil)
            #expect(try await records.page(of: .account, "acme", prefix: "", after: nil, limit: 10).isEmpty)
            let ended = Record(version: reading.nextVersion, bytes: [2])
            // By the version that it has: only the end is in the way.
            #expect(try await records.remove(key, version: first.version) == false)
            #expect(try await records.write(ended, at: key, replacing: first.version, until: reading.now + 60) == false)
            #expect(try await records.write(ended, at: key, replacing: nil, until: reading.now + 60))
            #expect(try await records.read(key).record?.bytes == [2])
        }
    }

    @Test(arguments: Engine.ofRecords)
    func `versions rise after a record is deleted`(_ engine: Engine) async throws {
        try await engine.open { stores async throws in
            let records = stores.records
            var versions: [UInt64] = []
            for _ in 0..<5 {
                let reading = try await records.read(key)
                versions.append(reading.nextVersion)
                let record = Record(version: reading.nextVersion, bytes: [])
                #expect(try await records.write(record, at: key, replacing: nil, until: reading.now - 1))
                // Versions are of the store's clock, in microseconds, of which memory needs less than one.
                while try await records.read(key).nextVersion == reading.nextVersion { await Task.yield() }
            }
            #expect(versions == Set(versions).sorted())
        }
    }

    @Test(arguments: Engine.ofRecords)
    func `pages are in byte order and continue after a name`(_ engine: Engine) async throws {
        try await engine.open { stores async throws in
            let records = stores.records
            let names = [
                "user-10", "user-9", "user-é", "user-e\u{301}", "user-Z", "user-a", "user-🦊", "user-\u{10ffff}", "usf",
                "use",
            ]
            for name in names { #expect(try await records.put(name)) }
            #expect(try await records.put("user-b", tenant: "other"))
            let expected = names.filter { $0.hasPrefix("user-") }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            var found: [String] = []
            while true {
                let page = try await records.page(of: .account, "acme", prefix: "user-", after: found.last, limit: 3)
                found += page.map(\.name)
                if page.count < 3 { break }
            }
            #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
            #expect(try await records.page(of: .account, "nobody", prefix: "", after: nil, limit: 10).isEmpty)
            #expect(
                try await records.page(of: .account, "acme", prefix: "", after: nil, limit: 5_000).count == names.count)
            #expect(try await records.page(of: .account, "acme", prefix: "", after: nil, limit: 0).count == 1)
        }
    }

    @Test(arguments: Engine.ofRecords)
    func `writes keep a count of live records through renewals, stops and removals`(
        _ engine: Engine
    ) async throws {
        try await engine.open { stores async throws in try await stores.records.checkCounts() }
    }

    @Test(arguments: Engine.ofRecords)
    func `a record holds up to 256 KiB`(_ engine: Engine) async throws {
        try await engine.open { stores async throws in
            let most = (0..<StoreLimits.recordBytes).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            #expect(try await stores.records.put("anna", most))
            #expect(try await stores.records.read(key).record?.bytes == most)
            let kind = await errorKind { _ = try await stores.records.put("ben", most + [0]) }
            #expect(kind == .unfit)
            #expect(try await stores.records.put("empty", []))
            let reading = try await stores.records.read(RecordKey(.account, tenant: "acme", name: "empty"))
            #expect(reading.record?.bytes == [])
        }
    }

    @Test(arguments: Engine.ofRecords)
    func `names are any text except NUL, and Unicode forms stay distinct`(_ engine: Engine) async throws {
        try await engine.open { stores async throws in
            let names = [
                "'; DROP TABLE records; --", "\"", "\\", "%_", "é", "e\u{301}", "$1", "\r\n", " ",
                String(repeating: "x", count: 512),
            ]
            for (number, name) in names.enumerated() { #expect(try await stores.records.put(name, [UInt8(number)])) }
            for (number, name) in names.enumerated() {
                let reading = try await stores.records.read(RecordKey(.account, tenant: "acme", name: name))
                #expect(reading.record?.bytes == [UInt8(number)])
            }
            for name in ["a\0b", "", String(repeating: "x", count: 513)] {
                let kind = await errorKind { _ = try await stores.records.put(name) }
                #expect(kind == .unfit)
            }
            let kind = await errorKind { _ = try await stores.records.put("a", tenant: "acme\0") }
            #expect(kind == .unfit)
        }
    }
}
