import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

/// A new key encryption key on two nodes over one store, in any order of the steps, back and forth.
@Suite(.timeLimit(.minutes(1))) struct KeyEncryptionRollOutTests {
    /// The keys in a node's configuration.
    private enum Step: Int, CaseIterable {
        /// The old key alone.
        case old
        /// The old key, and the new one as the next.
        case known
        /// The new key, and the old one as the former.
        case inForce
        /// The new key alone.
        case new

        func keys() throws -> KeyEncryptionKeys {
            let (old, new) = (try VaultStage.wrapper("old", 1), try VaultStage.wrapper("new", 2))
            return switch self {
            case .old: KeyEncryptionKeys(old)
            case .known: KeyEncryptionKeys(old, known: [new])
            case .inForce: KeyEncryptionKeys(new, known: [old])
            case .new: KeyEncryptionKeys(new)
            }
        }
    }

    private enum Move: Hashable {
        case step(node: Int, to: Step)
        case rewrap(node: Int)
        case tenant(node: Int)
    }

    /// Two nodes and their store.
    private struct Nodes {
        let store = MemorySealedKeyStore()
        var steps = [Step.old, .old]

        /// The page's steps: known on all nodes before it is in force on one; the old one removed when it wraps nothing and no
        /// node wraps with it; and each step back, in the same way.
        func moves() async throws -> [Move] {
            let wrappers = Set(try await store.dataKeys().map(\.wrapper))
            var moves: [Move] = [.tenant(node: 0), .tenant(node: 1)]
            for node in 0...1 {
                let (own, other) = (steps[node], steps[1 - node])
                switch own {
                case .old: moves.append(.step(node: node, to: .known))
                case .known:
                    if other != .old { moves.append(.step(node: node, to: .inForce)) }
                    if other.rawValue <= Step.known.rawValue, !wrappers.contains("new") {
                        moves.append(.step(node: node, to: .old))
                    }
                case .inForce:
                    if other != .new { moves.append(.step(node: node, to: .known)) }
                    if other.rawValue >= Step.inForce.rawValue, !wrappers.contains("old") {
                        moves.append(.step(node: node, to: .new))
                    }
                case .new: moves.append(.step(node: node, to: .inForce))
                }
                if own == .inForce { moves.append(.rewrap(node: node)) }
            }
            return moves
        }

        mutating func make(_ move: Move, _ number: Int) async throws {
            switch move {
            case .step(let node, let step): steps[node] = step
            case .rewrap(let node): try await steps[node].keys().rewrap(in: store)
            case .tenant(let node):
                _ = try await TenantSecrets.create("tenant-\(number)", in: store, with: steps[node].keys())
            }
        }

        /// Whether each node starts again, with every existing tenant.
        func restart() async throws {
            let tenants = Set(try await store.dataKeys().map(\.tenant))
            for step in steps {
                let keys = try step.keys()
                for tenant in tenants { _ = try await TenantSecrets.open(tenant, in: store, with: keys) }
            }
        }
    }

    @Test(arguments: 0..<40) func `in each order of the steps, forward and back, both nodes restart`(_ seed: Int)
        async throws
    {
        var generator = SeededGenerator(seed: UInt64(seed))
        var nodes = Nodes()
        _ = try await TenantSecrets.create("acme", in: nodes.store, with: Step.old.keys())
        var seen: Set<String> = []
        for number in 0..<80 {
            let move = try #require(try await nodes.moves().randomElement(using: &generator))
            try await nodes.make(move, number)
            seen.insert("\(nodes.steps)")
            try await nodes.restart()
        }
        #expect(seen.count > 3, "\(seen)")
    }

    @Test func `a full rollout ends with only the new key`() async throws {
        var nodes = Nodes()
        _ = try await TenantSecrets.create("acme", in: nodes.store, with: Step.old.keys())
        let way: [Move] = [
            .step(node: 0, to: .known), .step(node: 1, to: .known), .step(node: 0, to: .inForce),
            .step(node: 1, to: .inForce), .rewrap(node: 1), .step(node: 0, to: .new), .step(node: 1, to: .new),
        ]
        for (number, move) in way.enumerated() {
            #expect(try await nodes.moves().contains(move))
            try await nodes.make(move, number)
            try await nodes.restart()
        }
        #expect(Set(try await nodes.store.dataKeys().map(\.wrapper)) == ["new"])
    }

    @Test func `a node without the new key names it`() async throws {
        var nodes = Nodes()
        _ = try await TenantSecrets.create("acme", in: nodes.store, with: Step.old.keys())
        nodes.steps[0] = .inForce
        try await nodes.make(.rewrap(node: 0), 0)
        let error = await #expect(throws: VaultError.self) { try await nodes.restart() }
        #expect(error?.reason.contains("“new”") == true)
        #expect(error?.remedy.contains("nextKeyEncryptionKey") == true)
    }
}
