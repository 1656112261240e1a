import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyVault
import Testing

@testable import LatchkeyStores

/// The behavior of every `AuditStore`, whichever engine it has.
@Suite(.timeLimit(.minutes(5))) struct AuditStoreConformanceTests {
    private func entry(_ sequence: UInt64, _ text: String = "{}") -> AuditEntry {
        AuditEntry(
            sequence: sequence, text: text, previous: [UInt8](repeating: 0, count: 32),
            hash: [UInt8](repeating: 1, count: 32))
    }

    @Test(arguments: Engine.ofKeys)
    func `of the writers of one number exactly one wins`(_ engine: Engine) async throws {
        try await engine.open { stores async throws in
            let audit = try #require(stores.audit)
            for sequence in 1...20 as ClosedRange<UInt64> {
                let won = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for writer in 0..<6 {
                        group.addTask { try await audit.append(entry(sequence, "{\"writer\":\(writer)}")) }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(won == 1)
            }
            #expect(try await audit.last()?.sequence == 20)
            #expect(try await audit.entries(from: 1, limit: 1_000).map(\.sequence) == Array(1...20))
        }
    }

    @Test(arguments: Engine.ofKeys)
    func `entries have no gap and are read back as is`(_ engine: Engine) async throws {
        try await engine.open { stores async throws in
            let audit = try #require(stores.audit)
            #expect(try await audit.last() == nil)
            #expect(try await audit.append(entry(2)) == false)
            #expect(try await audit.append(entry(1, "{\"object\":\"é '\\u0000\"}")))
            #expect(try await audit.append(entry(1)) == false)
            #expect(try await audit.append(entry(3)) == false)
            #expect(try await audit.append(entry(2)))
            #expect(try await audit.last() == entry(2))
            #expect(try await audit.entries(from: 0, limit: 1) == [entry(1, "{\"object\":\"é '\\u0000\"}")])
            #expect(try await audit.entries(from: 2, limit: 10) == [entry(2)])
            #expect(try await audit.entries(from: .max, limit: 10).isEmpty)
        }
    }
}
