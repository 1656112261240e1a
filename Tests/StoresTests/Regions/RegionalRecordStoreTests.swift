import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import SwitchedStores
import Testing

/// Which region keeps which record.
@Suite(.timeLimit(.minutes(2))) struct RegionalRecordStoreTests {
    private static func regions(_ names: String...) throws -> RegionalRecordStore {
        try #require(RegionalRecordStore(Dictionary(uniqueKeysWithValues: names.map { ($0, MemoryRecordStore()) })))
    }

    private static func account(_ name: String) -> RecordKey { RecordKey(.account, tenant: "acme", name: name) }
    private static let names = (0..<10_000).map { "viewer-\($0)" }

    // Worked out by hand, so that no version of the server looks for an account elsewhere.
    @Test(arguments: [
        ("anna", "us", "us"), ("ben", "us", "us"), ("clara", "us", "ap"), ("dora", "eu", "eu"), ("emil", "eu", "eu"),
    ]) func `an account's home does not change`(_ name: String, _ oneOfTwo: String, _ oneOfThree: String) throws {
        #expect(try Self.regions("eu", "us").home(of: Self.account(name)) == oneOfTwo)
        #expect(try Self.regions("us", "ap", "eu").home(of: Self.account(name)) == oneOfThree)
    }

    @Test func `a new region takes its share, and no account moves between the others`() throws {
        let (before, after) = (try Self.regions("ap", "eu", "us"), try Self.regions("ap", "eu", "sa", "us"))
        let moved = Self.names.map(Self.account).filter { before.home(of: $0) != after.home(of: $0) }
        #expect(moved.allSatisfy { after.home(of: $0) == "sa" })
        #expect((2_300...2_700).contains(moved.count))
        let shares = Dictionary(grouping: Self.names) { after.home(of: Self.account($0)) }.mapValues(\.count)
        #expect(shares.values.allSatisfy { (2_300...2_700).contains($0) })
    }

    @Test func `a token's home is its account's`() throws {
        let store = try Self.regions("ap", "eu", "sa", "us")
        for name in Self.names.prefix(1_000) {
            let token = RecordKey(.token, tenant: "acme", name: "t-\(name)", owner: name)
            #expect(store.home(of: token) == store.home(of: Self.account(name)))
        }
        #expect(RecordKey(.token, tenant: "a", name: "t", owner: "x") == RecordKey(.token, tenant: "a", name: "t"))
    }

    @Test func `pages and counts combine all regions`() async throws {
        let store = try Self.regions("ap", "eu", "us")
        for name in Self.names.prefix(90) { try await store.putCounting(name, [60, 600, -1]) }
        let names = Self.names.prefix(90).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var found: [String] = []
        while true {
            let page = try await store.page(of: .account, "acme", prefix: "viewer-", after: found.last, limit: 20)
            found += page.map(\.name)
            if page.count < 20 { break }
        }
        #expect(found == names)
        #expect(try await store.counted() == RecordCount(180, isWhole: true))
        #expect(try await Set(store.stores.values.asyncMap { try await $0.counted().value }).count > 1)
    }

    @Test func `an account in two regions is on a page once, as its home has it`() async throws {
        let stores = ["eu": MemoryRecordStore(), "us": MemoryRecordStore()]
        let store = try #require(RegionalRecordStore(stores))
        for name in Self.names.prefix(40) {
            for (number, region) in ["eu", "us"].enumerated() {
                let version: UInt64 = region == store.home(of: Self.account(name)) ? 7 : UInt64(number)
                let isWritten = try await stores[region]?.write(
                    Record(version: version, bytes: []), at: Self.account(name), replacing: nil, until: Date() + 600)
                #expect(isWritten == true)
            }
        }
        let page = try await store.page(of: .account, "acme", prefix: "", after: nil, limit: 25)
        let names = Self.names.prefix(40).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(page.map(\.name) == Array(names.prefix(25)))
        #expect(page.allSatisfy { $0.record.version == 7 })
        let rest = try await store.page(of: .account, "acme", prefix: "", after: page.last?.name, limit: 25)
        #expect(rest.map(\.name) == Array(names.dropFirst(25)))
    }

    @Test func `a region that is down blocks its accounts and all pages, and a count is a minimum`() async throws {
        let (away, there) = (SwitchedRecordStore(), MemoryRecordStore())
        let store = try #require(RegionalRecordStore(["eu": there, "us": away]))
        let clock = ManualTimekeeper(date: Date())
        let guarded = GuardedRecords(store, for: .sessionStore, timekeeper: clock)
        for name in ["anna", "dora", "emil"] { try await guarded.all.putCounting(name, [600]) }
        away.setDown(true)
        // More often than one store's breaker allows.
        for _ in 0..<20 {
            #expect(await errorKind { _ = try await guarded.all.read(Self.account("anna")) } == .unavailable)
            #expect(try await guarded.all.read(Self.account("dora")).record != nil)
        }
        #expect(guarded.parts.map(\.health.region) == ["eu", "us"])
        #expect(guarded.parts.map(\.health.isAway) == [false, true])
        #expect(
            await errorKind {
                _ = try await guarded.all.page(of: .account, "acme", prefix: "", after: nil, limit: 9)
            } == .unavailable)
        #expect(
            try await guarded.all.count(of: .account, "acme", most: 0) { _ in [] } == RecordCount(2, isWhole: false))
        away.setDown(false)
        clock.advance(by: .seconds(2))
        await guarded.probe()
        #expect(guarded.parts.allSatisfy { !$0.health.isAway })
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for one in self { values.append(try await body(one)) }
        return values
    }
}
