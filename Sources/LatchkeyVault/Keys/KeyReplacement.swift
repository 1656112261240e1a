import Foundation
package import LatchkeyCore
import LatchkeySystem

/// A key's pending replacement or removal, for the audit and for the store.
package struct KeyReplacement: Sendable {
    /// The key's identifier.
    package let kid: KeyID
    /// The former key's fingerprint, by `TenantSecrets.fingerprint`.
    package let former: String
    /// The new key's fingerprint; `nil` if the key is removed.
    package let new: String?
    let held: SealedKey
    let row: KeyRow?

    /// The details for the audit.
    package var details: [String: String] {
        var details = ["former": former]
        details["new"] = new
        return details
    }
}

/// Replaces and removes keys, in two steps each, so that the audit has the change before it is made.
extension TenantVault {
    /// The change that would remove a key.
    /// - Throws: `unknown`, `store`, `protection`.
    package func removal(of kid: KeyID) async throws(VaultError) -> KeyReplacement {
        let (row, former) = try await held(kid)
        return KeyReplacement(kid: kid, former: former, new: nil, held: row.sealed, row: nil)
    }

    /// The change that would replace a key. A disabled key stays disabled.
    /// - Parameters:
    ///   - demand: the new key's content and kid, and the tracks that it encrypts.
    ///   - key: the new key and IV.
    ///   - policies: its policies; if empty, it keeps the former key's.
    /// - Throws: `unknown`, `ivMissing`, `store`, `protection`.
    package func replacement(
        by demand: KeyDemand, _ key: ContentKey, policies: [String] = []
    ) async throws(VaultError) -> KeyReplacement {
        let kid = demand.address.kid
        let (held, former) = try await held(kid)
        var row = try sealed(key, demand, policies.isEmpty ? held.policies : policies)
        row.isDisabled = held.isDisabled
        return KeyReplacement(
            kid: kid, former: former, new: try secrets.fingerprint(of: key, kid), held: held.sealed, row: row)
    }

    /// Carries out a change that the audit has, here and in the store. Other nodes learn it from the store.
    /// - Throws: `changedMeanwhile` if another change came first, `store`.
    package func carryOut(_ replacement: KeyReplacement) async throws(VaultError) {
        let isDone = try await VaultError.asking { () throws(StoreError) in
            guard let row = replacement.row else { return try await store.remove(replacement.held) }
            return try await store.replace(replacement.held, by: row)
        }
        noteChange(of: replacement.kid)
        _ = await row(replacement.kid)
        guard isDone else { throw .changedMeanwhile(replacement.kid) }
    }

    private func held(_ kid: KeyID) async throws(VaultError) -> (row: KeyRow, fingerprint: String) {
        // A derived key whose row still waits has to be found, and must not come back afterwards.
        await writePending()
        let rows = try await VaultError.asking { () throws(StoreError) in
            try await store.rows([kid], of: secrets.tenant)
        }
        guard let row = rows.first else { throw .unknown(kid) }
        let fingerprint: String
        do throws(VaultError) {
            fingerprint = try secrets.fingerprint(of: try await secrets.contentKey(row.sealed), kid)
        } catch {
            // A row that does not open is one more reason to replace it.
            guard let kind = error.kind, kind != .cryptography else { throw error }
            fingerprint = "unreadable"
        }
        return (row, fingerprint)
    }
}
