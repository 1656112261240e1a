import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
package import LatchkeyVault

// Where accounts are kept, and the errors of their stores.
extension GuardedRecords {
    /// - Parameter isOwn: whether this process wrote the record itself. Defaults to no.
    func account(in record: Record?, isOwn: Bool = false) throws(StoreError) -> AccountState {
        guard let record else { return AccountState() }
        return try AccountState(recordBytes: record.bytes, engine: engine, isOwn: isOwn)
    }

    func use(in record: Record?) throws(StoreError) -> AccountState.TokenUse? {
        guard let record else { return nil }
        return try AccountState.TokenUse(recordBytes: record.bytes, engine: engine)
    }
}

extension LicenseRefusal {
    /// A store was late twice.
    static func late(_ engine: Engine) -> Self {
        Self(.overloaded, reason: "The engine \(engine.rawValue) did not answer in time.")
    }
}

extension RecordKey {
    /// Where an account is kept. Viewers whose tokens name no account share one.
    package static func account(_ name: String, _ tenant: String) -> Self {
        RecordKey(.account, tenant: tenant, name: name.isEmpty ? "\u{2205}" : name.storedAccount)
    }
}

extension StoreError {
    static func contended(_ engine: String) -> Self {
        StoreError(
            .unavailable, engine,
            reason: "A record changed \(AccountSessions.attempts) times during an update.",
            remedy: "Look for clients that send repeated requests.")
    }
}

extension AccountSessions {
    /// Notes the use of a token in this node's memory, before the store learns of it: so an outage that begins meanwhile opens nothing here.
    /// - Returns: whether no other request used it meanwhile.
    func claim(_ token: TokenWrite?, _ context: DecisionContext) -> Bool {
        guard let token, let version = token.claim else { return true }
        guard usedTokens.replace(version, with: token.use, at: token.key, end: token.end) else { return false }
        context.claimed = version &+ 1
        return true
    }

    /// Gives back the token of a request that got no license in the end.
    func unspend(_ context: DecisionContext) async {
        if context.claimed != nil, let key = RequiredRecords(context.evaluation).token { usedTokens.forget(key) }
        guard let (key, record) = context.spent else { return }
        // An error is reported, and the token stays used.
        _ = try? await tokens[key].remove(key, version: record.version)
    }

    /// The value of a record; damage is reported.
    func reporting<Value>(
        _ engine: Engine, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        do { return try body() } catch {
            report(.failed(engine, error))
            throw error
        }
    }

    /// - Returns: `nil` if it was written; otherwise the store's reading.
    func exchange(_ write: AccountWrite) async throws(StoreError) -> RecordReading? {
        let held = try await accounts[write.key].exchange(
            write.record, at: write.key, knowing: write.reading, until: write.end, counting: write.slotEnds)
        if held == nil { memory.note(write.account, at: write.key, isWritten: true) }
        return held
    }

    /// - Returns: whether it was written.
    func exchangeAtOnce(_ write: AccountWrite) throws(StoreError) -> Bool {
        try accounts[write.key].immediate?.write(
            write.record, at: write.key, replacing: write.reading.record?.version, until: write.end,
            counting: write.slotEnds) == true
    }
}
