import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
package import LatchkeySystem
package import LatchkeyVault

/// Decides by the stored state of accounts and tokens, and stores the decision's changes.
///
/// Reads, decides, and writes if the state has not changed meanwhile; else begins again. So any number of nodes share a store, and none
/// grants a slot too many. A policy that counts nothing asks no store.
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
    /// The blocks in force.
    let blocks: BlockList?
    let memory: AccountMemory<AccountState>
    let usedTokens: AccountMemory<AccountState.TokenUse>
    /// Whether no store has to be waited for.
    private let answersAtOnce: Bool
    /// How often a change begins again before the account counts as unavailable.
    static let attempts = 32

    /// - Parameters:
    ///   - accounts: keeps accounts.
    ///   - tokens: keeps used tokens. Defaults to the store of the accounts.
    ///   - secrets: sign heartbeat tokens, 32 random bytes each, the same on all nodes. The first signs, all are accepted, so that one
    ///     can replace another. Without any, players get no tokens.
    ///   - limits: how patient it is with the stores. Defaults to 50 ms.
    ///   - pending: keeps sessions that were stopped while the store was out. Defaults to none: then a stop needs the store.
    ///   - blocks: the accounts and devices that get no licenses. Defaults to none.
    ///   - limit: the most accounts, and the most used tokens, that the node remembers for an outage. Defaults to 100,000 each.
    ///   - timekeeper: the time for limits, and for decisions that ask no store. Defaults to the machine's.
    ///   - report: takes errors, and outages as they begin and end. Called on any thread; must not wait.
    package init(
        accounts: any RecordStore, tokens: (any RecordStore)? = nil, secrets: [Secret],
        limits: RecordStoreLimits = RecordStoreLimits(), pending: PendingChanges? = nil,
        blocks: BlockList? = nil, remembering limit: Int = 100_000, timekeeper: any Timekeeper = SystemTimekeeper(),
        report: @escaping @Sendable (RecordStoreEvent) -> Void = { _ in }
    ) {
        (self.pending, self.blocks) = (pending, blocks)
        (memory, usedTokens) = (AccountMemory(limit: limit), AccountMemory(limit: limit))
        self.accounts = GuardedRecords(accounts, for: .sessionStore, limits, timekeeper: timekeeper, report: report)
        self.tokens = GuardedRecords(
            tokens ?? accounts, for: .tokenStore, limits, timekeeper: timekeeper, report: report)
        answersAtOnce = [self.accounts, self.tokens].flatMap(\.parts).allSatisfy { $0.immediate != nil }
        (self.secrets, self.timekeeper, self.report) = (secrets, timekeeper, report)
    }

    /// The guards of the stores.
    package var watched: [EngineGuard] { [accounts, tokens].flatMap(\.parts).map(\.guarded) }

    /// Decides about one key.
    ///
    /// Where a store is out of service, the policy's outage rule decides, within limits that count what this node remembers of the account and
    /// the token, and the store learns of it with their next license. A store that is late is tried once more, from
    /// the beginning, so that nothing is taken twice; if it is late again, the license is refused as by a server that has too much to do: it may
    /// be this machine that is slow, and no limit opens for that.
    /// - Parameters:
    ///   - facts: the facts of the request, the token and the key. The account's state and the time are filled in; engines that are out of
    ///     service stay so.
    ///   - policy: the policy, resolved.
    ///   - requestID: the request's identifier, for the record.
    ///   - bound: in which a license has to find room. Defaults to none.
    /// - Throws: the bound's error for a license without room; then nothing was written.
    package func decide<Bound: DecisionBound>(
        _ facts: Facts, by policy: Policy, requestID: String? = nil, within bound: Bound = Unbounded()
    ) async throws(Bound.Excess) -> BookedDecision {
        let context = DecisionContext(facts, policy, requestID, blocks, at: timekeeper.date.inMilliseconds)
        // An immediate answer needs no task to wait for it.
        let first = attemptAtOnce(context, within: bound)
        if case .booked(let booked)? = first, context.spent == nil || booked.decision.terms != nil { return booked }
        return try await decide(context, within: bound, after: first)
    }

    /// Retries until an attempt succeeds.
    /// - Parameter first: an attempt that was made; `nil` if none was.
    private func decide<Bound: DecisionBound>(
        _ context: DecisionContext, within bound: Bound, after first: Attempt<Bound.Excess>?
    ) async throws(Bound.Excess) -> BookedDecision {
        var made = first
        for _ in 0..<Self.attempts {
            let attempt = if let made { made } else { await self.attempt(context, within: bound) }
            made = nil
            switch attempt {
            case .booked(let booked):
                if booked.decision.terms == nil { await unspend(context) }
                return booked
            case .beyond(let excess):
                await unspend(context)
                throw excess
            case .again(let held): context.source = held.map { .held($0) } ?? .store
            case .late where context.wasLate:
                await unspend(context)
                return context.refused(.late(context.asked))
            case .late: (context.wasLate, context.source) = (true, .store)
            case .out: context.facts.account.outages.insert(context.asked)
            }
            context.begin()
        }
        await unspend(context)
        report(.failed(.sessionStore, .contended(accounts.engine)))
        let reason = "The account changed \(Self.attempts) times during a decision."
        return context.refused(LicenseRefusal(.policy(.storeUnavailable), reason: reason))
    }

    /// Gives back the slot that a request took, because its license cannot be sent. A slot that another key of the playback has
    /// renewed since then stays.
    /// - Parameter tookSlot: whether the request took the slot, with this decision or with one before. A slot that was there stays.
    package func undo(_ booked: BookedDecision, tookSlot: Bool) async {
        guard tookSlot, let slot = booked.slot, let key = booked.account else { return }
        // An error is reported, and the slot expires automatically.
        try? await change(key) { state, _ in
            state.slots.removeAll { $0.fence == slot.fence && $0.tracks == slot.tracks && $0.ends <= slot.ends + 0.001 }
        }
    }

    /// An attempt if every store answers immediately; `nil` if one has to be waited for.
    // Apart, so that nothing of it is in the frame of a task.
    @inline(never) private func attemptAtOnce<Bound: DecisionBound>(
        _ context: DecisionContext, within bound: Bound
    ) -> Attempt<Bound.Excess>? {
        guard answersAtOnce else { return nil }
        do throws(StoreError) {
            let required = RequiredRecords(context.evaluation)
            var account: RecordReading?
            var token: RecordReading?
            if let key = required.account { account = try accounts[key].immediate?.read(key) }
            context.asked = .tokenStore
            if let key = required.storedToken { token = try tokens[key].immediate?.read(key) }
            switch try weigh(context, required, account, token, within: bound) {
            case .ended(let attempt): return settled(.success(attempt), context, bound)
            case .proposed(let proposal): return settled(.success(try keepAtOnce(proposal, context)), context, bound)
            }
        } catch {
            return settled(.failure(error), context, bound)
        }
    }

    private func attempt<Bound: DecisionBound>(
        _ context: DecisionContext, within bound: Bound
    ) async -> Attempt<Bound.Excess> {
        do throws(StoreError) {
            let required = RequiredRecords(context.evaluation)
            let (account, token) = await readings(required, context.source)
            let accountReading = try account.get()
            context.asked = .tokenStore
            switch try weigh(context, required, accountReading, try token.get(), within: bound) {
            case .ended(let attempt): return settled(.success(attempt), context, bound)
            case .proposed(let proposal): return settled(.success(try await keep(proposal, context)), context, bound)
            }
        } catch {
            return settled(.failure(error), context, bound)
        }
    }

    /// The result of an attempt. Room that it took from the bound is kept with its license, or given back.
    private func settled<Bound: DecisionBound>(
        _ result: Result<Attempt<Bound.Excess>, StoreError>, _ context: DecisionContext, _ bound: Bound
    ) -> Attempt<Bound.Excess> {
        let attempt: Attempt<Bound.Excess> =
            switch result {
            case .success(let attempt): attempt
            case .failure(let error): error.isLate ? .late : .out
            }
        if let use = context.taken {
            context.taken = nil
            if case .booked = attempt { bound.keep(use) } else { bound.giveBack(use) }
        }
        return attempt
    }

    /// Decides by the stores' replies.
    @inline(never) private func weigh<Bound: DecisionBound>(
        _ context: DecisionContext, _ required: RequiredRecords, _ accountReading: RecordReading?,
        _ tokenReading: RecordReading?, within bound: Bound
    ) throws(StoreError) -> Weighed<Bound.Excess> {
        let usedToken = tokenReading?.record == context.spent?.record ? nil : tokenReading?.record
        context.asked = .sessionStore
        var state = AccountState()
        var version: UInt64 = 0
        if let key = required.remembered {
            let known = memory.value(key, at: context.facts.now)
            (state, version) = (known.value ?? AccountState(), known.version)
        } else if let key = required.account, let accountReading {
            state = try reporting(.sessionStore) { () throws(StoreError) in
                try self.account(in: accountReading, at: key)
            }
        }
        (state.outages, state.blocks) = (context.facts.account.outages, context.facts.account.blocks)
        if let pending {
            state.stopped += pending.stops(of: context.facts.grant.account, context.facts.request.tenant)
        }
        context.asked = .tokenStore
        state.tokenUse = try reporting(.tokenStore) { () throws(StoreError) in try tokens.use(in: usedToken) }
        let now = (accountReading?.now ?? tokenReading?.now ?? context.facts.now).inMilliseconds
        var claim: UInt64?
        if let key = required.token {
            let (known, version) = usedTokens.value(key, at: now)
            if known == nil { claim = version }
            if version != context.claimed { state.tokenUse = state.tokenUse ?? known }
        }
        context.evaluation.learn(state, at: now)

        let decision = context.evaluation.decision()
        if decision.terms != nil {
            let use = SlotUse(decision, keepsSlots: required.account != nil)
            // A guess alone is not a reason to refuse.
            if let excess = bound.take(use) {
                return .ended(accountReading?.isGuess == true ? .again(nil) : .beyond(excess))
            }
            context.taken = use
        }
        let next = context.evaluation.account(after: decision, fence: Int(clamping: accountReading?.nextVersion ?? 0))
        let proposal = Proposal(booked(context, decision, next, required.account))
        if decision.terms != nil {
            proposal.token = required.token.map { TokenWrite($0, context.evaluation, claim, tokenReading) }
            if let key = required.remembered {
                proposal.remembered = (key, version, next.kept(at: context.evaluation.facts.now))
            }
        }
        if let key = required.account, let accountReading {
            if decision.terms != nil || decision.change != .none {
                let write = AccountWrite(next, accountReading, at: key)
                if write.isChange { proposal.account = write }
            }
            // A guess alone is not a reason to refuse.
            if proposal.account == nil, accountReading.isGuess { return .ended(.again(nil)) }
        }
        return .proposed(proposal)
    }

    /// Writes a decision's changes.
    private func keep<Excess>(_ proposal: Proposal, _ context: DecisionContext) async throws(StoreError) -> Attempt<
        Excess
    > {
        guard claim(proposal.token, context) else { return .again(nil) }
        if let token = proposal.token, let record = token.record {
            // Before the store says so: a late write may arrive at any time.
            let former = context.spent
            context.spent = (token.key, record)
            guard try await tokens[token.key].write(record, at: token.key, replacing: nil, until: token.end) else {
                context.spent = former
                return .again(nil)
            }
        }
        context.asked = .sessionStore
        if let (key, version, account) = proposal.remembered, !memory.replace(version, with: account, at: key) {
            return .again(nil)
        }
        if let write = proposal.account, let held = try await exchange(write) { return .again(held) }
        return .booked(proposal.booked)
    }

    /// The same, if every store answers immediately.
    private func keepAtOnce<Excess>(_ proposal: Proposal, _ context: DecisionContext) throws(StoreError) -> Attempt<
        Excess
    > {
        guard claim(proposal.token, context) else { return .again(nil) }
        if let token = proposal.token, let record = token.record {
            let store = tokens[token.key].immediate
            guard try store?.write(record, at: token.key, replacing: nil, until: token.end) == true else {
                return .again(nil)
            }
            context.spent = (token.key, record)
        }
        context.asked = .sessionStore
        if let (key, version, account) = proposal.remembered, !memory.replace(version, with: account, at: key) {
            return .again(nil)
        }
        if let write = proposal.account, try !exchangeAtOnce(write) { return .again(nil) }
        return .booked(proposal.booked)
    }

    private func booked(
        _ context: DecisionContext, _ decision: Decision, _ account: AccountState, _ key: RecordKey?
    ) -> BookedDecision {
        let origin = BookedDecision.Origin(
            facts: context.evaluation.facts, policy: context.policy, requestID: context.requestID)
        let heartbeat = context.evaluation.policy.concurrency.heartbeat
        let session = decision.change.slot?.session
        guard let key, let slot = account.slots.first(where: { $0.session == session }) else {
            return BookedDecision(decision, origin, account: key)
        }
        let life = heartbeat.map { $0 * 2 + context.evaluation.grace } ?? .zero
        let token = HeartbeatToken(
            tenant: key.tenant, account: key.name, session: slot.session, fence: slot.fence, tracks: slot.tracks,
            life: life)
        var isTaken = false
        if case .take = decision.change { isTaken = true }
        return BookedDecision(
            decision, origin, slot: slot, isTaken: isTaken,
            heartbeatToken: secrets.first.flatMap { try? token.text($0) }, heartbeat: heartbeat, account: key)
    }
}

// MARK: - Stores

extension AccountSessions {
    /// Reads the account, and the token at the same time if there is one to read.
    private func readings(
        _ required: RequiredRecords, _ source: AccountSource
    ) async -> (account: Result<RecordReading?, StoreError>, token: Result<RecordReading?, StoreError>) {
        // A task for nothing would wake another thread.
        guard let key = required.storedToken else {
            return (await accountReading(required.account, source), .success(nil))
        }
        async let token = reading(tokens, key)
        // The token costs a trip anyway, in which the account is read as well: a guess saves nothing.
        let known = if case .guess = source { AccountSource.store } else { source }
        return (await accountReading(required.account, known), await token)
    }

    private func accountReading(
        _ key: RecordKey?, _ source: AccountSource
    ) async -> Result<RecordReading?, StoreError> {
        guard let key else { return .success(nil) }
        do throws(StoreError) {
            switch source {
            case .held(let reading): return .success(reading)
            case .guess: return .success(try await accounts[key].known(key))
            case .store: return .success(try await accounts[key].read(key))
            }
        } catch {
            return .failure(error)
        }
    }

    private func reading(_ store: GuardedRecords, _ key: RecordKey) async -> Result<RecordReading?, StoreError> {
        do { return .success(try await store[key].read(key)) } catch { return .failure(error) }
    }

    /// Changes an account, beginning again while others change it.
    /// - Parameters:
    ///   - reading: the store's reading just now; `nil` if it was not asked.
    ///   - body: changes it, by the store's clock. An unchanged account is not written.
    /// - Returns: the body's result.
    /// - Throws: `StoreError`.
    @discardableResult
    func change<Value>(
        _ key: RecordKey, knowing reading: RecordReading? = nil, _ body: (inout AccountState, Date) -> Value
    ) async throws(StoreError) -> Value {
        var known = reading
        if known == nil, let value = try changeAtOnce(key, body) { return value }
        for _ in 0..<Self.attempts {
            let reading = if let known { known } else { try await accounts[key].known(key) }
            let account = try self.account(in: reading, at: key)
            var next = account
            let value = body(&next, reading.now)
            if next != account {
                known = try await exchange(AccountWrite(next, reading, at: key))
                if known == nil { return value }
            } else if reading.isGuess {
                known = try await accounts[key].read(key)
            } else {
                return value
            }
        }
        throw .contended(accounts.engine)
    }

    /// Changes an account if its store answers immediately.
    /// - Returns: `nil` if the store has to be waited for, or the account changed meanwhile.
    /// - Throws: `StoreError`.
    func changeAtOnce<Value>(
        _ key: RecordKey, _ body: (inout AccountState, Date) -> Value
    ) throws(StoreError) -> Value? {
        guard let reading = try accounts[key].immediate?.read(key) else { return nil }
        let account = try self.account(in: reading, at: key)
        var next = account
        let value = body(&next, reading.now)
        if next != account, try !exchangeAtOnce(AccountWrite(next, reading, at: key)) { return nil }
        return value
    }

    /// The account of a reading, with this node's licenses from an outage of the store. A store in this process's memory is never out.
    private func account(in reading: RecordReading, at key: RecordKey) throws(StoreError) -> AccountState {
        let isOwn = accounts[key].immediate != nil
        let account = try accounts.account(in: reading.record, isOwn: isOwn)
        guard !isOwn else { return account }
        if !reading.isGuess { memory.note(account, at: key, isWritten: false) }
        return memory.merged(account, at: key)
    }
}
