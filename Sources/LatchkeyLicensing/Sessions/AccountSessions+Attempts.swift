import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeySystem
import LatchkeyVault

// The values that the attempts of one decision pass on.
extension AccountSessions {
    /// What an attempt begins with.
    enum Knowledge {
        /// What the node knows of the account.
        case guess
        /// What the store says.
        case store
        /// What the store said when it refused a write.
        case held(RecordReading)
    }

    enum Attempt<Excess> {
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

    /// A decision under way: what it depends on, and what attempts pass on. A class, so that whoever waits for a store holds a reference.
    final class Course {
        var facts: Facts
        let policy: Policy
        let requestID: String?
        /// The decision of the present attempt.
        var evaluation: PolicyEvaluation
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

        @inline(never) init(_ facts: Facts, _ policy: Policy, _ requestID: String?, at now: Date) {
            var facts = facts
            facts.now = now
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

    /// A decision, and what has to be written before it counts.
    final class Proposal {
        let booked: BookedDecision
        var token: (key: RecordKey, record: Record, end: Date)?
        /// The account in this node's memory, while its store is out, and what it replaces.
        var remembered: (key: RecordKey, version: UInt64, account: AccountState)?
        var account: AccountWrite?

        init(_ booked: BookedDecision) { self.booked = booked }
    }

    /// What a store keeps of an account from now on. An account of which nothing counts ends at once.
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
    struct Needs {
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
}
