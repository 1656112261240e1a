package import Foundation
import LatchkeyCore
package import LatchkeyDecision

/// The blocks in force on this node, in memory, so that no license waits for a store because of them.
///
/// Source: `Documentation/LicenseServer.md` §7.6.
package final class BlockList: Sendable {
    /// The most blocks of a tenant.
    package static let most = 10_000

    fileprivate struct State {
        var blocks: [Block.Subject: Block] = [:]
        /// The tenants of the blocked devices.
        var tenantsOfDevices: Set<String> = []
        /// Rises with each change, so that an older answer of the store never replaces a newer one.
        var stamp: UInt64 = 0
    }

    private let copy: (any NodeCopy)?
    private let state = Locked(State())

    /// - Parameter copy: keeps the blocks for a node's next start.
    init(_ copy: (any NodeCopy)?) { self.copy = copy }

    /// All blocks, and the stamp of this state.
    package var snapshot: (blocks: [Block], stamp: UInt64) {
        state.withLock { (Array($0.blocks.values), $0.stamp) }
    }

    /// The blocks of a request's account and device, by both of its names.
    package func blocks(of facts: Facts) -> [Block] {
        state.withLock { state in
            guard !state.blocks.isEmpty else { return [] }
            let (tenant, grant) = (facts.request.tenant, facts.grant)
            let devices = Set([grant.device, facts.request.device].compactMap { $0 }).sorted()
            let subjects =
                [Block.Subject(.account, grant.account, of: tenant)]
                + devices.map { Block.Subject(.device, $0, of: tenant) }
            return subjects.compactMap { state.blocks[$0] }
        }
    }

    /// The block of an account or a device that is in force; `nil` without one.
    package func block(_ kind: Block.Kind, _ name: String, of tenant: String, at now: Date) -> Block? {
        let block = state.withLock { state in
            state.blocks.isEmpty ? nil : state.blocks[Block.Subject(kind, name, of: tenant)]
        }
        return block?.isInForce(at: now) == true ? block : nil
    }

    /// Whether a device of the tenant is blocked.
    package func hasDevices(of tenant: String) -> Bool { state.withLock { $0.tenantsOfDevices.contains(tenant) } }

    /// Begins with the blocks of the node's copy.
    func start(_ blocks: [Block]) { state.withLock { $0.set(blocks) } }

    func add(_ block: Block) { change { $0.set($0.blocks.values.filter { $0.subject != block.subject } + [block]) } }

    func remove(_ subject: Block.Subject) { change { $0.set($0.blocks.values.filter { $0.subject != subject }) } }

    /// Replaces all blocks with the store's.
    /// - Returns: false if the list changed since the stamp, and nothing was replaced.
    func replace(_ blocks: [Block], readAt stamp: UInt64) -> Bool {
        change { state in
            guard state.stamp == stamp else { return false }
            state.set(blocks)
            return true
        }
    }

    private func change<Value>(_ body: (inout State) -> Value) -> Value {
        state.withLock { state in
            defer {
                // In the order of the changes; keeping does not wait.
                copy?.keep(Array(state.blocks.values))
            }
            return body(&state)
        }
    }
}

extension BlockList.State {
    fileprivate mutating func set(_ blocks: [Block]) {
        stamp &+= 1
        self.blocks = Dictionary(blocks.map { ($0.subject, $0) }) { $1 }
        tenantsOfDevices = Set(self.blocks.keys.filter { $0.kind == .device }.map(\.tenant))
    }
}
