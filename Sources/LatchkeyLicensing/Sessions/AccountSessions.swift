import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
package import LatchkeySystem
package import LatchkeyVault

/// Decides with what is kept of accounts and tokens, and keeps what the decision changes.
///
/// Reads, decides, and writes under the condition that nobody else wrote meanwhile; else begins again. So any number of nodes share a
/// store, and none grants a slot too many. A policy that counts nothing asks no store.
///
/// Source: `Documentation/LicenseServer.md` §7.
package final class AccountSessions: Sendable {
    let accounts: GuardedRecords
    let tokens: GuardedRecords
    let secrets: [Secret]
    let timekeeper: any Timekeeper
    let report: @Sendable (RecordStoreEvent) -> Void
    /// Sessions that were stopped while the store was out.
    let pending: PendingChanges?
    let memory = AccountMemory()
    /// How often a change begins again before the account counts as unavailable.
    static let attempts = 32

    /// - Parameters:
    ///   - accounts: keeps accounts.
    ///   - tokens: keeps used tokens. Defaults to the store of the accounts.
    ///   - secrets: sign heartbeat tokens, 32 random bytes each, the same on all nodes. The first signs, all are accepted, so that one
    ///     can replace another. Without any, players get no tokens.
    ///   - limits: how patient it is with the stores. Defaults to 50 ms.
    ///   - pending: sessions that were stopped while the store was out, and how more of them are kept. Defaults to none: then a stop needs
    ///     the store.
    ///   - timekeeper: the time for limits, and for decisions that ask no store. Defaults to the machine's.
    ///   - report: takes errors, and outages as they begin and end. Called on any thread; must not wait.
    package init(
        accounts: any RecordStore, tokens: (any RecordStore)? = nil, secrets: [Secret],
        limits: RecordStoreLimits = RecordStoreLimits(), pending: PendingChanges? = nil,
        timekeeper: any Timekeeper = SystemTimekeeper(),
        report: @escaping @Sendable (RecordStoreEvent) -> Void = { _ in }
    ) {
        self.pending = pending
        self.accounts = GuardedRecords(accounts, for: .sessionStore, limits, timekeeper: timekeeper, report: report)
        self.tokens = GuardedRecords(
            tokens ?? accounts, for: .tokenStore, limits, timekeeper: timekeeper, report: report)
        self.secrets = secrets
        self.timekeeper = timekeeper
        self.report = report
    }

    /// What guards the stores.
    package var watched: [EngineGuard] { [accounts, tokens].flatMap(\.parts).map(\.guarded) }

    /// Decides about one key.
    ///
    /// Where a store is out of service, the policy's outage rule decides, within limits that count what this node remembers of the account, and
    /// the store learns of it with the account's next license. A store that is late is tried once more, from
    /// the beginning, so that nothing is taken twice; if it is late again, the license is refused as by a server that has too much to do: it may
    /// be this machine that is slow, and no limit opens for that.
    /// - Parameters:
    ///   - facts: what the request, the token and the key say. What is kept of the account, and the time, are filled in; engines that
    ///     are out of service stay so.
    ///   - policy: the policy, resolved.
    ///   - requestID: the request's identifier, for the record.
    ///   - bound: in which a license has to find room. Defaults to none.
    /// - Throws: what the bound says of a license without room; then nothing was written.
    package func decide<Bound: DecisionBound>(
        _ facts: Facts, by policy: Policy, requestID: String? = nil, within bound: Bound = Unbounded()
    ) async throws(Bound.Excess) -> BookedDecision {
        var facts = facts
        facts.now = timekeeper.date.inMilliseconds
        facts.grant.issued = facts.grant.issued?.inMilliseconds
        facts.grant.expires = facts.grant.expires?.inMilliseconds
        var course = Course()
        for _ in 0..<Self.attempts {
            course.asked = .sessionStore
            switch await attempt(facts, policy, requestID, bound, &course) {
            case .booked(let booked):
                if booked.decision.terms == nil { await unspend(course) }
                return booked
            case .beyond(let excess):
                await unspend(course)
                throw excess
            case .again(let held): course.knowledge = held.map { .held($0) } ?? .store
            case .late where course.wasLate:
                await unspend(course)
                return refused(.late(course.asked), facts, policy, requestID)
            case .late: (course.wasLate, course.knowledge) = (true, .store)
            case .out: facts.account.outages.insert(course.asked)
            }
        }
        await unspend(course)
        report(.failed(.sessionStore, .contended(accounts.engine)))
        let reason = "The account changed \(Self.attempts) times during a decision."
        return refused(LicenseRefusal(.policy(.storeUnavailable), reason: reason), facts, policy, requestID)
    }

    /// Gives back the token of a request that got no license in the end.
    private func unspend(_ course: Course) async {
        guard let (key, record) = course.spent else { return }
        // An error is reported, and the token stays used.
        _ = try? await tokens[key].remove(key, version: record.version)
    }

    /// Gives back the slot that a request took, because its license cannot be sent. A slot that another key of the playback has
    /// renewed since then stays.
    /// - Parameter tookSlot: whether the request took the slot, with this decision or with one before. A slot that was there stays.
    package func undo(_ booked: BookedDecision, tookSlot: Bool) async {
        guard tookSlot, let slot = booked.slot, let key = booked.account else { return }
        // An error is reported, and the slot ends by itself.
        try? await change(key) { state, _ in
            state.slots.removeAll { $0.fence == slot.fence && $0.tracks == slot.tracks && $0.ends <= slot.ends + 0.001 }
        }
    }

    /// What an attempt begins with.
    private enum Knowledge {
        /// What the node knows of the account.
        case guess
        /// What the store says.
        case store
        /// What the store said when it refused a write.
        case held(RecordReading)
    }

    private enum Attempt<Excess> {
        case booked(BookedDecision)
        /// The license has no room in the bound.
        case beyond(Excess)
        /// Somebody else changed the account or used the token meanwhile, or the guess was wrong; with what the store holds, if it said.
        case again(RecordReading?)
        /// The store that was asked last took too long.
        case late
        /// The store that was asked last does not answer.
        case out
    }

    /// What attempts pass on.
    private struct Course {
        /// What is known of the account.
        var knowledge = Knowledge.guess
        /// The one that was asked last, which is the one that an error is of.
        var asked = Engine.sessionStore
        /// What an attempt wrote of the token's use. It is this request's own, and refuses it nothing.
        var spent: (key: RecordKey, record: Record)?
        /// Whether an attempt found a store late.
        var wasLate = false
        /// What an attempt took of the bound, and has not kept a license for.
        var taken: SlotUse?
    }

    private func attempt<Bound: DecisionBound>(
        _ facts: Facts, _ policy: Policy, _ requestID: String?, _ bound: Bound, _ course: inout Course
    ) async -> Attempt<Bound.Excess> {
        let attempt: Attempt<Bound.Excess>
        do throws(StoreError) {
            attempt = try await self.attempt(facts, policy, requestID, within: bound, &course)
        } catch {
            attempt = error.isLate ? .late : .out
        }
        if let use = course.taken {
            course.taken = nil
            if case .booked = attempt { bound.keep(use) } else { bound.giveBack(use) }
        }
        return attempt
    }

    private func attempt<Bound: DecisionBound>(
        _ given: Facts, _ policy: Policy, _ requestID: String?, within bound: Bound, _ course: inout Course
    ) async throws(StoreError) -> Attempt<Bound.Excess> {
        var deliberation = PolicyEvaluation(given, policy)
        let needs = Needs(deliberation)
        let (account, token) = await readings(needs, course.knowledge)
        let accountReading = try account.get()
        course.asked = .tokenStore
        let tokenReading = try token.get()
        let usedToken = tokenReading?.record == course.spent?.record ? nil : tokenReading?.record
        course.asked = .sessionStore
        var state = AccountState()
        var version: UInt64 = 0
        if let key = needs.remembered {
            (state, version) = memory.account(key)
        } else if let key = needs.account, let accountReading {
            state = try reporting(.sessionStore) { () throws(StoreError) in
                try self.account(in: accountReading, at: key)
            }
        }
        state.outages = given.account.outages
        if let pending { state.stopped += pending.stops(of: given.grant.account, given.request.tenant) }
        course.asked = .tokenStore
        state.tokenUse = try reporting(.tokenStore) { () throws(StoreError) in try tokens.use(in: usedToken) }
        deliberation.learn(state, at: (accountReading?.now ?? tokenReading?.now ?? given.now).inMilliseconds)

        let decision = deliberation.decision()
        let origin = BookedDecision.Origin(facts: deliberation.facts, policy: policy, requestID: requestID)
        if decision.terms != nil {
            let use = SlotUse(decision, keepsSlots: needs.account != nil)
            // Nobody is refused for what the node believes.
            if let excess = bound.take(use) { return accountReading?.isGuess == true ? .again(nil) : .beyond(excess) }
            course.taken = use
            if let key = needs.token, let tokenReading, tokenReading.record == nil {
                let record = Record(version: tokenReading.nextVersion, bytes: deliberation.tokenUse.recordBytes)
                // Before the store says so: a write that is late may come in any time.
                let former = course.spent
                course.spent = (key, record)
                guard try await tokens[key].write(record, at: key, replacing: nil, until: deliberation.tokenEnd) else {
                    course.spent = former
                    return .again(nil)
                }
            }
        }
        course.asked = .sessionStore
        if let key = needs.remembered, decision.terms != nil {
            let next = deliberation.account(after: decision, fence: 0).kept(at: deliberation.facts.now)
            guard memory.replace(version, with: next, at: key) else { return .again(nil) }
        }
        guard let key = needs.account, let accountReading else {
            return .booked(BookedDecision(decision, origin))
        }
        let next = deliberation.account(after: decision, fence: Int(clamping: accountReading.nextVersion))
        let former = accountReading.record?.bytes ?? AccountState().recordBytes
        if decision.terms != nil || decision.change != .none, next.recordBytes != former {
            if let held = try await exchange(next, accountReading, at: key) { return .again(held) }
        } else if accountReading.isGuess {
            // Nobody is refused for what the node believes.
            return .again(nil)
        }
        return .booked(booked(decision, origin, deliberation, next, key))
    }

    private func booked(
        _ decision: Decision, _ origin: BookedDecision.Origin, _ deliberation: PolicyEvaluation,
        _ account: AccountState,
        _ key: RecordKey
    ) -> BookedDecision {
        let heartbeat = deliberation.policy.concurrency.heartbeat
        let session = decision.change.slot?.session
        guard let slot = account.slots.first(where: { $0.session == session }) else {
            return BookedDecision(decision, origin, account: key)
        }
        let life = heartbeat.map { $0 * 2 + deliberation.grace } ?? .zero
        let token = HeartbeatToken(
            tenant: key.tenant, account: key.name, session: slot.session, fence: slot.fence, tracks: slot.tracks,
            life: life)
        var isTaken = false
        if case .take = decision.change { isTaken = true }
        return BookedDecision(
            decision: decision, origin: origin, slot: slot, isTaken: isTaken,
            heartbeatToken: secrets.first.flatMap { try? token.text($0) }, heartbeat: heartbeat, account: key)
    }

    /// A refusal because of a store, in place of a decision.
    private func refused(
        _ refusal: LicenseRefusal, _ facts: Facts, _ policy: Policy, _ requestID: String?
    ) -> BookedDecision {
        let note = PolicyNote(.refused, "\(refusal.code): \(refusal.reason)")
        let decision = Decision.refuse(refusal, .none, notes: [note])
        return BookedDecision(decision, .init(facts: facts, policy: policy, requestID: requestID))
    }
}

// MARK: - Stores

extension AccountSessions {
    /// Where what a decision depends on is kept; `nil` for what it does not depend on, or what is out of service.
    private struct Needs {
        var account: RecordKey?
        /// The account in this node's memory, while its store is out.
        var remembered: RecordKey?
        var token: RecordKey?

        init(_ deliberation: PolicyEvaluation) {
            let facts = deliberation.facts
            let (tenant, outages) = (facts.request.tenant, facts.account.outages)
            if deliberation.needsAccount {
                let key = RecordKey.account(facts.grant.account, tenant)
                if outages.contains(.sessionStore) { remembered = key } else { account = key }
            }
            if deliberation.needsToken, !outages.contains(.tokenStore) {
                // At home where the account is, so that both are one way.
                let owner = RecordKey.account(facts.grant.account, tenant).name
                token = facts.grant.tokenID.map {
                    RecordKey(.token, tenant: tenant, name: $0.digestName, owner: owner)
                }
            }
        }
    }

    /// Reads the account, and the token at the same time if there is one to read.
    private func readings(
        _ needs: Needs, _ knowledge: Knowledge
    ) async -> (account: Result<RecordReading?, StoreError>, token: Result<RecordReading?, StoreError>) {
        // A task for nothing would wake another thread.
        guard needs.token != nil else { return (await accountReading(needs.account, knowledge), .success(nil)) }
        async let token = reading(tokens, needs.token)
        // The token costs a trip anyway, in which the account is read as well: a guess saves nothing.
        let known = if case .guess = knowledge { Knowledge.store } else { knowledge }
        return (await accountReading(needs.account, known), await token)
    }

    private func accountReading(
        _ key: RecordKey?, _ knowledge: Knowledge
    ) async -> Result<RecordReading?, StoreError> {
        guard let key else { return .success(nil) }
        do throws(StoreError) {
            switch knowledge {
            case .held(let reading): return .success(reading)
            case .guess: return .success(try await accounts[key].known(key))
            case .store: return .success(try await accounts[key].read(key))
            }
        } catch {
            return .failure(error)
        }
    }

    private func reading(
        _ store: GuardedRecords, _ key: RecordKey?
    ) async -> Result<RecordReading?, StoreError> {
        guard let key else { return .success(nil) }
        do { return .success(try await store[key].read(key)) } catch { return .failure(error) }
    }

    /// What a record says; that it is damaged is reported.
    private func reporting<Value>(
        _ engine: Engine, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        do { return try body() } catch {
            report(.failed(engine, error))
            throw error
        }
    }

    /// Changes an account, beginning again while others change it.
    /// - Parameters:
    ///   - reading: what the store said of it just now; `nil` if it was not asked.
    ///   - body: changes it, by the store's clock. What it leaves alone is not written.
    /// - Returns: what the body gave.
    /// - Throws: `StoreError`.
    @discardableResult
    func change<Value>(
        _ key: RecordKey, knowing reading: RecordReading? = nil, _ body: (inout AccountState, Date) -> Value
    ) async throws(StoreError) -> Value {
        var known = reading
        for _ in 0..<Self.attempts {
            let reading = if let known { known } else { try await accounts[key].known(key) }
            let account = try self.account(in: reading, at: key)
            var next = account
            let value = body(&next, reading.now)
            if next.recordBytes != account.recordBytes {
                known = try await exchange(next, reading, at: key)
                if known == nil { return value }
            } else if reading.isGuess {
                known = try await accounts[key].read(key)
            } else {
                return value
            }
        }
        throw .contended(accounts.engine)
    }

    /// What a reading says of an account, with what this node licensed while the store was out.
    private func account(in reading: RecordReading, at key: RecordKey) throws(StoreError) -> AccountState {
        let account = try accounts.account(in: reading.record)
        if !reading.isGuess { memory.note(account, at: key, isWritten: false) }
        return memory.merged(account, at: key)
    }

    /// Writes what counts of an account. One of which nothing counts ends at once.
    /// - Returns: `nil` if it was written; what the store holds where it was not.
    private func exchange(
        _ account: AccountState, _ reading: RecordReading, at key: RecordKey
    ) async throws(StoreError) -> RecordReading? {
        let kept = account.kept(at: reading.now)
        let record = Record(version: reading.nextVersion, bytes: kept.recordBytes)
        let held = try await accounts[key].exchange(
            record, at: key, knowing: reading, until: kept.end(at: reading.now),
            counting: kept.slotsInOrder.map(\.ends))
        if held == nil { memory.note(kept, at: key, isWritten: true) }
        return held
    }
}
