import Foundation
import LatchkeyCore
import LatchkeyTesting
import SwitchedStores
import Testing

@testable import LatchkeyDecision
@testable import LatchkeySystem
@testable import LatchkeyVault

/// A store that is older than the node's last look, as after a restored backup or at a former primary: it is named, and no takedown comes
/// undone.
@Suite(.timeLimit(.minutes(1))) struct StoreAgeTests {
    private let stage: VaultStage
    private let audit = RestoredAudit()
    private let copy = MemoryNodeCopy()

    init() throws { stage = try VaultStage() }

    /// Every node's first step: its entry exists before the change.
    private func note(_ action: AuditEvent.Action, times count: Int = 1) async throws {
        let chain = AuditChain(audit, timekeeper: stage.time)
        stage.time.advance(by: .seconds(1))
        for _ in 0..<count { try await chain.append(AuditEvent(action, of: "acme/key", by: "admin:ops")) }
    }

    /// A node that has licensed keys 1 and 2.
    private func node(copy: MemoryNodeCopy? = nil) async throws -> (vault: TenantVault, age: StoreAge) {
        let age = try await StoreAge.open(audit, copy: copy)
        let vault = try await stage.vault(copy: copy, age: age)
        for number in UInt8(1)...2 {
            _ = try await stage.key(stage.demand(number), of: vault)
            _ = try await vault.key(.numbered(number))
        }
        return (vault, age)
    }

    private func takeDown(_ number: UInt8, at vault: TenantVault) async throws {
        try await note(.keyDisabled)
        try await vault.setDisabled(true, .numbered(number))
    }

    /// Puts everything back to before the last entries.
    private func restore(without count: Int) async throws {
        audit.drop(count)
        _ = try await stage.store.inner.setDisabled(false, .numbered(1), of: "acme")
    }

    private func expectRefused(_ vault: TenantVault, from location: SourceLocation = #_sourceLocation) async {
        await #expect(throws: VaultError.disabled(.numbered(1)), sourceLocation: location) {
            try await vault.key(.numbered(1))
        }
    }

    @Test(arguments: [
        (left: 3, added: 0, words: nil), (3, 1, nil), (3, 5, nil), (2, 0, "its audit ends at entry 2"),
        (0, 0, "its audit ends at entry 0"), (2, 1, "its audit has a different entry 3"),
        (0, 9, "its audit has a different entry 3"),
    ])
    func `a database is behind if its audit lacks the newest entry that the node has seen`(
        _ left: Int, _ added: Int, _ words: String?
    ) async throws {
        try await note(.keyDisabled, times: 3)
        let before = try await StoreAge.open(audit, copy: copy)
        #expect(try await !before.look())
        audit.drop(3 - left)
        try await note(.keyEnabled, times: added)
        for age in [before, try await StoreAge.open(audit, copy: copy)] {
            #expect(try await age.look() == (words != nil))
            #expect(age.setback.map { $0.reason.contains(words ?? "-") } ?? (words == nil))
        }
        // A look at a database that is behind makes the node forget nothing.
        #expect(try await copy.seen()?.sequence == (words == nil ? UInt64(left + added) : 3))
    }

    @Test func `a node with an older database refuses keys that were taken down, until an operator accepts it`()
        async throws
    {
        try await takeDown(1, at: node(copy: copy).vault)
        try await restore(without: 1)
        let age = try await StoreAge.open(audit, copy: copy)
        let vault = try await stage.vault(copy: copy, age: age)
        await expectRefused(vault)
        _ = try await vault.key(.numbered(2))
        #expect(
            try await vault.store.page(of: "acme", search: "", after: nil, limit: 9).map(\.isDisabled) == [true, false])
        let error = await #expect(throws: VaultError.self) { try await vault.setDisabled(false, .numbered(1)) }
        #expect(error?.remedy.contains("latchkey-server copy accept") == true)
        // A new takedown is in force immediately, and the copy has both.
        try await takeDown(2, at: vault)
        #expect(Set(try await copy.takedowns()) == [HeldKey("acme", .numbered(1)), HeldKey("acme", .numbered(2))])
        #expect(
            age.setback?.reason.contains("a different entry 1") == true, "Entries of the older database replace none.")
        try await age.accept()
        try await stage.tick(vault)
        #expect(age.setback == nil)
        _ = try await vault.key(.numbered(1))
        #expect(try await copy.takedowns() == [HeldKey("acme", .numbered(2))])
    }

    @Test(arguments: [false, true])
    func `a database rolled back during a run lifts no takedown, even before a check`(_ hasCopy: Bool)
        async throws
    {
        let (vault, age) = try await node(copy: hasCopy ? copy : nil)
        try await takeDown(1, at: vault)
        try await restore(without: 1)
        try await vault.refresh()
        await expectRefused(vault)
        #expect(age.setback != nil)
        // As a license that was never asked for here.
        let fresh = TenantVault(vault.secrets, store: vault.store, settings: stage.settings, timekeeper: stage.time)
        await expectRefused(fresh)
    }

    @Test func `another node's takedown that a failover loses stays in force here`() async throws {
        let (vault, _) = try await node(copy: copy)
        try await note(.keyDisabled)
        _ = try await stage.store.inner.setDisabled(true, .numbered(1), of: "acme")
        vault.noteChange(of: .numbered(1))
        await expectRefused(vault)
        try await restore(without: 1)
        try await vault.refresh()
        await expectRefused(vault)
    }

    @Test func `an audit that does not answer lifts no takedown either`() async throws {
        let (vault, age) = try await node(copy: copy)
        try await takeDown(1, at: vault)
        audit.setDown(true)
        _ = try await stage.store.inner.setDisabled(false, .numbered(1), of: "acme")
        try await vault.refresh()
        await expectRefused(vault)
        #expect(age.setback == nil, "Nobody knows.")
        audit.setDown(false)
        try await stage.tick(vault)
        _ = try await vault.key(.numbered(1))
    }

    @Test(arguments: [
        (hasKeys: false, lost: 0, isBehind: false), (false, 1, false), (false, 2, true), (false, nil, false),
        (true, 1, false), (true, 2, true), (true, nil, true),
    ])
    func `a store without the audit is behind if it lost more than seconds, until it has them again or is accepted`(
        _ hasKeys: Bool, _ lost: Int?, _ isBehind: Bool
    ) async throws {
        for copy in [copy, nil] {
            let node = try await MarkedStage(hasKeys: hasKeys, copy, stage.time)
            let news = Locked<[Bool]>([])
            node.age.whenChanged { _, setback in news.withLock { $0.append(setback != nil) } }
            try await node.restore(without: lost)
            let left = try await node.mark()
            for _ in 0..<2 { try await node.look() }
            #expect((node.age.setback != nil) == (isBehind && hasKeys))
            #expect(node.age.setbacks.map(\.store) == (isBehind ? [hasKeys ? "keys" : "sessions"] : []))
            #expect(try await (node.mark() == left) == isBehind, "No mark is raised in an older store.")
            if isBehind, lost != nil {
                #expect(node.age.setbacks.allSatisfy { $0.error.reason.contains("is 5 s older than the last one") })
                try await node.restore(without: 0)
                try await node.look()
                #expect(node.age.setbacks.isEmpty)
                try await node.restore(without: lost)
                try await node.look()
            }
            try await node.age.accept()
            #expect(node.age.setbacks.isEmpty)
            let setbacks = isBehind ? lost == nil ? 1 : 2 : 0
            #expect(news.withLock { $0 } == (0..<setbacks).flatMap { _ in [true, false] })
        }
    }

    @Test func `a key database without the audit that goes back lifts no takedown`() async throws {
        let marked = try await MarkedStage(hasKeys: true, copy, stage.time)
        let vault = try await stage.vault(copy: copy, age: marked.age)
        _ = try await stage.key(stage.demand(1), of: vault)
        try await vault.setDisabled(true, .numbered(1))
        try await restore(without: 0)
        try await marked.restore(without: 2)
        try await vault.refresh()
        await expectRefused(vault)
    }

    @Test func `a look at sessions gives the error of a store that does not answer`() async throws {
        let records = SwitchedRecordStore(timekeeper: stage.time)
        let age = try await StoreAge.open(audit, copy: copy, marking: [MarkedStore("sessions", records: records)])
        #expect(await age.lookAtSessions() == nil)
        records.setDown(true)
        #expect(await age.lookAtSessions() != nil)
    }

    @Test func `a mark that is a week old says nothing`() async throws {
        let node = try await MarkedStage(hasKeys: true, copy, stage.time)
        stage.time.advance(by: .seconds(7 * 86_400))
        try await node.look()
        #expect(node.age.setbacks.isEmpty)
    }

    @Test func `a properly enabled key is licensed again, even when the right database returns`() async throws {
        let (vault, age) = try await node(copy: copy)
        let news = Locked<[Bool]>([])
        age.whenChanged { _, setback in news.withLock { $0.append(setback != nil) } }
        try await takeDown(1, at: vault)
        let right = audit.all
        try await restore(without: 1)
        try await stage.tick(vault)
        await expectRefused(vault)
        audit.put(right)
        try await stage.tick(vault)
        #expect(news.withLock { $0 } == [true, false])
        try await note(.keyEnabled)
        try await vault.setDisabled(false, .numbered(1))
        _ = try await vault.key(.numbered(1))
    }
}

/// A store without the audit, after three looks: two marks are seen, and the third one was just written.
private struct MarkedStage {
    let records: MemoryRecordStore
    let age: StoreAge
    private(set) var marks: [NamedRecord] = []

    init(hasKeys: Bool, _ copy: MemoryNodeCopy?, _ time: ManualTimekeeper) async throws {
        records = MemoryRecordStore(timekeeper: time)
        age = try await StoreAge.open(
            RestoredAudit(), copy: copy,
            marking: [MarkedStore(hasKeys ? "keys" : "sessions", hasKeys: hasKeys, records: records)])
        for _ in 0..<3 {
            // The second one is too early for a mark.
            for _ in 0..<2 { try await look() }
            marks.append(try #require(try await mark()))
            time.advance(by: .seconds(5))
        }
    }

    func look() async throws {
        try await age.look()
        await age.lookAtSessions()
    }

    func mark() async throws -> NamedRecord? {
        try await records.page(of: .usage, "-", prefix: "age-", after: nil, limit: 9).first
    }

    /// Puts the store back to an earlier mark.
    /// - Parameter count: how many later ones are lost; all of them for `nil`.
    func restore(without count: Int?) async throws {
        let last = try #require(try await mark())
        let key = RecordKey(.usage, tenant: "-", name: last.name)
        #expect(try await records.remove(key, version: last.record.version))
        guard let count else { return }
        let mark = marks[marks.count - 1 - count]
        #expect(try await records.write(mark.record, at: key, replacing: nil, until: mark.end))
    }
}

/// An audit that can be put back to an older state.
final class RestoredAudit: AuditStore {
    let engine = "restored"
    private let entries = Locked<[AuditEntry]>([])
    private let isDown = Locked(false)

    var all: [AuditEntry] { entries.withLock { $0 } }

    func put(_ all: [AuditEntry]) { entries.withLock { $0 = all } }
    func drop(_ count: Int) { entries.withLock { $0.removeLast(count) } }
    func setDown(_ value: Bool) { isDown.withLock { $0 = value } }

    private func ask() throws(StoreError) {
        if isDown.withLock({ $0 }) { throw StoreError(.unavailable, engine, reason: "The test took it away.") }
    }

    func append(_ entry: AuditEntry) async throws(StoreError) -> Bool {
        try ask()
        return entries.withLock { entries in
            guard entry.sequence == UInt64(entries.count + 1) else { return false }
            entries.append(entry)
            return true
        }
    }

    func last() async throws(StoreError) -> AuditEntry? {
        try ask()
        return all.last
    }

    func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try ask()
        return Array(all.dropFirst(Int(sequence) - 1).prefix(limit))
    }
}
