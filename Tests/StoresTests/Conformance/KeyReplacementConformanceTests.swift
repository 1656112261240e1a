import LatchkeyCore
import LatchkeyDecision
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import LatchkeySystem

/// How every `KeyStore` replaces and removes keys, in memory, too.
@Suite(.timeLimit(.minutes(5))) struct KeyReplacementConformanceTests {
    private func open(_ engine: Engine, _ body: (any KeyStore) async throws -> Void) async throws {
        try await engine.open { try await body($0.keys ?? MemorySealedKeyStore()) }
    }

    @Test(arguments: Engine.ofRecords)
    func `a replaced key has all of the new row`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            let (held, other) = (SampleKeys.row(1), SampleKeys.row(2))
            _ = try await keys.add([held, other])
            var new = SampleKeys.row(1, dataKey: 2, secret: 9)
            (new.content, new.policies, new.scheme, new.periods) = (SampleKeys.content(5), ["hd"], .cbcs, [1, 2])
            new.isDisabled = true
            #expect(try await keys.replace(held.sealed, by: new))
            #expect(try await keys.rows([held.kid], of: "acme") == [new])
            #expect(try await keys.rows([other.kid], of: "acme") == [other])
            #expect(try await keys.count(of: "acme") == 2)
            let named = try await keys.page(of: "acme", search: "\(SampleKeys.content(5))", after: nil, limit: 10)
            #expect(named == [new])
        }
    }

    @Test(arguments: Engine.ofRecords)
    func `a key that was resealed or removed meanwhile stays unchanged`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            let held = SampleKeys.row(1)
            _ = try await keys.add([held])
            _ = try await keys.reseal([SampleKeys.sealed(1, dataKey: 2)])
            let now = try await keys.rows([held.kid], of: "acme")
            #expect(try await keys.replace(held.sealed, by: SampleKeys.row(1, secret: 9)) == false)
            #expect(try await keys.remove(held.sealed) == false)
            #expect(try await keys.rows([held.kid], of: "acme") == now)
            #expect(try await keys.remove(SampleKeys.sealed(1, tenant: "other", dataKey: 2)) == false)
            #expect(try await keys.remove(SampleKeys.sealed(1, dataKey: 2)))
            #expect(try await keys.remove(SampleKeys.sealed(1, dataKey: 2)) == false)
            #expect(try await keys.replace(SampleKeys.sealed(1, dataKey: 2), by: SampleKeys.row(1)) == false)
            #expect(try await keys.count(of: "acme") == 0)
            #expect(try await keys.add([SampleKeys.row(1, secret: 9)]) == [SampleKeys.row(1, secret: 9)])
        }
    }

    @Test(arguments: Engine.ofRecords)
    func `of concurrent changes to a key one wins`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            let held = SampleKeys.row(1)
            _ = try await keys.add([held])
            let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        if number % 4 == 3 { return try await keys.remove(held.sealed) }
                        return try await keys.replace(held.sealed, by: SampleKeys.row(1, secret: UInt8(100 + number)))
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(wins == 1)
        }
    }

    @Test(arguments: Engine.ofRecords)
    func `a row of another kid or tenant, and a seed, are refused`(_ engine: Engine) async throws {
        try await open(engine) { keys async throws in
            let held = SampleKeys.row(1)
            _ = try await keys.add([held])
            var seed = held.sealed
            seed.subject = .seed(SeedVersion(1))
            let kinds = [
                await errorKind { _ = try await keys.replace(held.sealed, by: SampleKeys.row(2)) },
                await errorKind { _ = try await keys.replace(held.sealed, by: SampleKeys.row(1, tenant: "other")) },
                await errorKind { _ = try await keys.replace(seed, by: held) },
                await errorKind { _ = try await keys.remove(seed) },
            ]
            #expect(kinds == [.unfit, .unfit, .unfit, .unfit])
            #expect(try await keys.rows([held.kid], of: "acme") == [held])
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `each database has its own constant fingerprint`(_ engine: Engine) async throws {
        try await open(engine) { one async throws in
            try await open(engine) { two async throws in
                let first = try #require(try await one.fingerprint())
                #expect(try await one.fingerprint() == first)
                #expect(try await two.fingerprint() != first)
                #expect(DatabaseFingerprint("\(first)") == first)
            }
        }
    }
}
