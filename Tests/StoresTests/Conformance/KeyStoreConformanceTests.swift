import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import LatchkeySystem

/// The behavior of every `KeyStore`, whichever engine it has.
@Suite(.timeLimit(.minutes(5))) struct KeyStoreConformanceTests {
    private func open(_ engine: Engine, _ body: (any KeyStore) async throws -> Void) async throws {
        try await engine.open { try await body(try #require($0.keys)) }
    }

    @Test(arguments: Engine.ofKeys)
    func `a row is read back unchanged`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            var row = SampleKeys.row(1)
            row.content = try #require(ContentName(bytes: Data([0xff, 0x00, 0x27])))
            row.trackType = "SD+HD1 \"é\""
            row.policies = ["premium", "with \"quotes\", é and \\", ""]
            row.scheme = .cbcs
            row.periods = [0, 7, .max]
            row.isDisabled = true
            row.sealed.dataKey = .max
            #expect(try await keys.add([row]) == [row])
            #expect(try await keys.rows([row.kid, SampleKeys.kid(2)], of: "acme") == [row])
            #expect(try await keys.rows([row.kid], of: "other").isEmpty)
            #expect(try await keys.setDisabled(false, row.kid, of: "acme"))
            #expect(try await keys.setDisabled(false, SampleKeys.kid(2), of: "acme") == false)
            #expect(try await keys.rows([row.kid], of: "acme").first?.isDisabled == false)
            #expect(try await keys.add([]).isEmpty)
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `a block is kept as it was last set, by kind and name, until it is lifted`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            let now = Date(timeIntervalSince1970: 1_767_225_600.5)
            let end = now.addingTimeInterval(60)
            func block(_ kind: Block.Kind, _ name: String, _ reason: String = "", until end: Date? = nil) -> Block {
                Block(
                    Block.Subject(kind, name, of: "acme"), reason: reason, by: "é \"quoted\"", since: now, until: end)
            }
            let account = block(.account, "日本/1", "stolen", until: end)
            let device = block(.device, "日本/1")
            for block in [block(.account, "日本/1", "first"), account, device] { try await keys.block(block) }
            #expect(Set(try await keys.blocks()) == [account, device])
            #expect(try await keys.unblock(Block.Subject(.device, "日本/1", of: "other")) == false)
            #expect(try await keys.unblock(account.subject))
            #expect(try await keys.unblock(account.subject) == false)
            #expect(try await keys.blocks() == [device])
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `of racing adders one key wins for all`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            let answers = try await withThrowingTaskGroup(of: [KeyRow].self) { group in
                for adder in 0..<8 {
                    group.addTask {
                        let rows = (0..<40).map { SampleKeys.row($0, secret: UInt8(adder)) }
                        return try await keys.add(adder % 2 == 0 ? rows : rows.reversed())
                    }
                }
                return try await group.reduce(into: [[KeyRow]]()) { $0.append($1.sorted { "\($0.kid)" < "\($1.kid)" }) }
            }
            #expect(answers.count == 8)
            #expect(Set(answers).count == 1)
            #expect(answers.first?.count == 40)
            #expect(try await keys.count(of: "acme") == 40)
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `current rows come in the requested order, duplicates included`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            let first = SampleKeys.row(1)
            _ = try await keys.add([first])
            let asked = [SampleKeys.row(2), SampleKeys.row(1, secret: 9), SampleKeys.row(2, secret: 9)]
            #expect(try await keys.add(asked) == [asked[0], first, asked[0]])
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `pages go by content and kid, and match prefixes and whole kids`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            let rows = (0..<250).map { SampleKeys.row($0) }
            _ = try await keys.add(rows)
            _ = try await keys.add([SampleKeys.row(900, tenant: "other")])
            #expect(try await keys.count(of: "acme") == 250)
            let expected = rows.sorted {
                $0.content == $1.content
                    ? $0.kid.bytes.lexicographicallyPrecedes($1.kid.bytes)
                    : $0.content.bytes.lexicographicallyPrecedes($1.content.bytes)
            }
            var found: [KeyRow] = []
            while true {
                let page = try await keys.page(of: "acme", search: "", after: found.last?.cursor, limit: 100)
                found += page
                if page.count < 100 { break }
            }
            #expect(found == expected)
            let series = try await keys.page(of: "acme", search: "series-12/", after: nil, limit: 100)
            #expect(series.map(\.kid) == expected.filter { $0.content.description.hasPrefix("series-12/") }.map(\.kid))
            let one = try await keys.page(of: "acme", search: "\(rows[5].kid)".uppercased(), after: nil, limit: 10)
            #expect(one == [rows[5]])
            #expect(try await keys.page(of: "acme", search: "\(rows[5].kid)", after: rows[5].cursor, limit: 10).isEmpty)
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `paging continues after the lowest and highest kids`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            let bytes: [[UInt8]] = [
                [UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 15) + [0xff],
                [UInt8](repeating: 0xff, count: 16),
            ]
            let kids = try bytes.map { try #require(KeyID(bytes: $0)) }
            let names = ["a", "a\0", "b"].compactMap { ContentName($0) }
            let rows = zip(kids, names).map { kid, name in
                var row = SampleKeys.row(1)
                (row.kid, row.sealed.subject, row.content) = (kid, .contentKey(kid), name)
                return row
            }
            _ = try await keys.add(rows)
            var same = SampleKeys.row(2)
            same.content = names[0]
            _ = try await keys.add([same])
            var found: [KeyRow] = []
            while let next = try await keys.page(of: "acme", search: "", after: found.last?.cursor, limit: 1).first {
                found.append(next)
            }
            #expect(found == [rows[0], same, rows[1], rows[2]])
            #expect(try await keys.page(of: "acme", search: "a", after: rows[0].cursor, limit: 9) == [same, rows[1]])
            #expect(try await keys.page(of: "acme", search: "b", after: rows[0].cursor, limit: 9) == [rows[2]])
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `keys are resealed once despite concurrent callers`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            _ = try await keys.add((0..<50).map { SampleKeys.row($0) })
            #expect(try await keys.rows(of: "acme", sealedBefore: 2, limit: 20).count == 20)
            let replaced = try await withThrowingTaskGroup(of: Int.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        let rows = (0..<50).map { SampleKeys.sealed($0, dataKey: 2, secret: UInt8(worker)) }
                        return try await keys.reseal(worker % 2 == 0 ? rows : rows.reversed())
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(replaced == 50)
            #expect(try await keys.rows(of: "acme", sealedBefore: 2, limit: 20).isEmpty)
            #expect(try await keys.reseal([SampleKeys.sealed(0, dataKey: 1)]) == 0)
            #expect(try await keys.rows([SampleKeys.kid(0)], of: "acme").first?.sealed.dataKey == 2)
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `a seed is added once and resealed`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            var seed = SampleKeys.sealed(1)
            seed.subject = .seed(SeedVersion(3))
            #expect(try await keys.add(seed: seed))
            #expect(try await keys.add(seed: seed) == false)
            #expect(try await keys.seeds(of: "acme") == [seed])
            #expect(try await keys.seeds(of: "other").isEmpty)
            seed.dataKey = 2
            #expect(try await keys.reseal([seed]) == 1)
            #expect(try await keys.seeds(of: "acme") == [seed])
            let kind = await errorKind { _ = try await keys.add(seed: SampleKeys.sealed(1)) }
            #expect(kind == .unfit)
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `a data key is replaced only if its wrapper matches`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            func dataKey(_ wrapper: String) -> WrappedDataKey {
                WrappedDataKey(tenant: "acme", version: 1, wrapper: wrapper, nonce: [1], wrapped: Array(wrapper.utf8))
            }
            #expect(try await keys.put(dataKey("a"), replacing: "none") == false)
            #expect(try await keys.put(dataKey("a"), replacing: nil))
            #expect(try await keys.put(dataKey("b"), replacing: nil) == false)
            #expect(try await keys.put(dataKey("b"), replacing: "a"))
            #expect(try await keys.put(dataKey("c"), replacing: "a") == false)
            #expect(try await keys.dataKeys() == [dataKey("b")])
        }
    }
}
