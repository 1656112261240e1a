import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeySystem
import LatchkeyVault

// The values that the attempts of one decision pass on.
extension AccountSessions {
    /// The knowledge with which an attempt begins.
    enum AccountSource {
        /// The account in this node's memory.
        case guess
        /// The store's state.
        case store
        /// The state that the store returned when it refused a write.
        case held(RecordReading)
    }

    enum Attempt<Excess> {
        case booked(BookedDecision)
        /// The license has no room in the bound.
        case beyond(Excess)
        /// Another request changed the account or used the token meanwhile, or the guess was wrong; with the store's state, if returned.
        case again(RecordReading?)
        /// The store that was asked last took too long.
        case late
        /// The store that was asked last does not answer.
        case out
    }

    /// A decision under way: its inputs, and the values that attempts pass on. A class, so that a waiting task holds a reference.
    final class DecisionContext {
        var facts: Facts
        let policy: Policy
        let requestID: String?
        /// The decision of the present attempt.
        var evaluation: PolicyEvaluation
        /// The knowledge of the account.
        var source = AccountSource.guess
        /// The engine that was asked last, to which an error belongs.
        var asked = Engine.sessionStore
        /// The record of the token's use that an attempt wrote. It is this request's own, and never a reason to refuse it.
        var spent: (key: RecordKey, record: Record)?
        /// The version of the token's use that an attempt noted in this node's memory; likewise this request's own.
        var claimed: UInt64?
        /// Whether an attempt found a store late.
        var wasLate = false
        /// Room that an attempt took from the bound, without a kept license so far.
        var taken: SlotUse?

        @inline(never) init(
            _ facts: Facts, _ policy: Policy, _ requestID: String?, _ blocks: BlockList?, at now: Date
        ) {
            var facts = facts
            facts.now = now
            if let found = blocks?.blocks(of: facts), !found.isEmpty { facts.account.blocks = found }
            let (issued, expires) = (facts.grant.issued?.inMilliseconds, facts.grant.expires?.inMilliseconds)
            // Most tokens state whole seconds.
            if issued != facts.grant.issued { facts.grant.issued = issued }
            if expires != facts.grant.expires { facts.grant.expires = expires }
            (self.facts, self.policy, self.requestID) = (facts, policy, requestID)
            evaluation = PolicyEvaluation(facts, policy)
        }

        /// Begins another attempt.
        func begin() {
            asked = .sessionStore
            evaluation = PolicyEvaluation(facts, policy)
        }

        /// A refusal because of a store, in place of a decision.
        func refused(_ refusal: LicenseRefusal) -> BookedDecision {
            let note = PolicyNote(.refused, "\(refusal.code): \(refusal.reason)")
            let decision = Decision.refuse(refusal, .none, notes: [note])
            return BookedDecision(decision, .init(facts: facts, policy: policy, requestID: requestID))
        }
    }

    /// A decision, and the writes that must succeed before it counts.
    final class Proposal {
        let booked: BookedDecision
        var token: TokenWrite?
        /// The account in this node's memory, while its store is out, and the version that it replaces.
        var remembered: (key: RecordKey, version: UInt64, account: AccountState)?
        var account: AccountWrite?

        init(_ booked: BookedDecision) { self.booked = booked }
    }

    /// The first use of a token.
    struct TokenWrite {
        let key: RecordKey
        let use: AccountState.TokenUse
        let end: Date
        /// The version that the use replaces in this node's memory; `nil` if the node knows it.
        let claim: UInt64?
        /// The use in the store; `nil` if the store holds it, or is out.
        let record: Record?

        init(_ key: RecordKey, _ evaluation: PolicyEvaluation, _ claim: UInt64?, _ reading: RecordReading?) {
            let use = evaluation.tokenUse
            (self.key, self.use, self.claim, end) = (key, use, claim, evaluation.tokenEnd)
            record = reading.flatMap {
                $0.record == nil ? Record(version: $0.nextVersion, bytes: use.recordBytes) : nil
            }
        }
    }

    /// The new state of an account in the store. An account of which nothing counts expires immediately.
    struct AccountWrite {
        let key: RecordKey
        let account: AccountState
        let reading: RecordReading
        let record: Record

        init(_ account: AccountState, _ reading: RecordReading, at key: RecordKey) {
            (self.key, self.reading, self.account) = (key, reading, account.kept(at: reading.now))
            record = Record(version: reading.nextVersion, bytes: self.account.recordBytes)
        }

        /// Whether the store does not hold it already.
        var isChange: Bool { record.bytes != reading.record?.bytes ?? AccountState.emptyRecordBytes }
        var end: Date { account.end(at: reading.now) }
        var slotEnds: [Date] { account.slotsInOrder.map(\.ends) }
    }

    enum Weighed<Excess> {
        case ended(Attempt<Excess>)
        case proposed(Proposal)
    }

    /// The keys of the records that a decision depends on; `nil` for a record that it does not depend on, or whose store is out of service.
    struct RequiredRecords {
        var account: RecordKey?
        /// The account in this node's memory, while its store is out.
        var remembered: RecordKey?
        /// The token, in this node's memory and, unless that is out, in the store.
        var token: RecordKey?
        private var isTokenStoreOut: Bool
        var storedToken: RecordKey? { isTokenStoreOut ? nil : token }

        init(_ evaluation: PolicyEvaluation) {
            let facts = evaluation.facts
            let (tenant, outages) = (facts.request.tenant, facts.account.outages)
            isTokenStoreOut = outages.contains(.tokenStore)
            if evaluation.needsAccount {
                let key = RecordKey.account(facts.grant.account, tenant)
                if outages.contains(.sessionStore) { remembered = key } else { account = key }
            }
            if evaluation.needsToken {
                // At home where the account is, so that both are one way.
                let owner = RecordKey.account(facts.grant.account, tenant).name
                token = facts.grant.tokenID.map {
                    RecordKey(.token, tenant: tenant, name: $0.digestName, owner: owner)
                }
            }
        }
    }
}
