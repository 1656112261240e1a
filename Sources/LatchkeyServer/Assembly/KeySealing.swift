import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyLicensing
package import LatchkeySystem
package import LatchkeyVault

/// Explicit changes to the sealing of a configuration's keys, each audited before it is made.
package struct KeySealing {
    private let shared: ServerShared
    private let wrapping: KeyEncryptionKeys

    private var keys: any KeyStore { shared.engines.keys }

    /// Opens the stores for a piece of work, and closes them.
    /// - Throws: `ServerProblems`, and the work's errors.
    package static func with<Value: Sendable>(
        _ file: ConfigurationFile, given stores: ServerStores = ServerStores(),
        _ work: (KeySealing) async throws -> Value
    ) async throws -> Value {
        let engines = try await ServerEngines.open(file, given: stores)
        let result = await Result { try await work(opened(file, engines)) }
        await engines.closeFiles()
        return try result.get()
    }

    private static func opened(_ file: ConfigurationFile, _ engines: ServerEngines) async throws -> KeySealing {
        let shared = try await ServerShared.read(file, engines, LineWriter { _ in })
        let builder = shared.builder(file)
        var problems = ServerProblems()
        let wrapping = await builder.wrapping(&problems)
        await builder.checkFingerprint(&problems)
        guard let wrapping, problems.isEmpty else { throw problems }
        return KeySealing(shared: shared, wrapping: wrapping)
    }

    /// The fingerprint of the database of the keys.
    package func fingerprint() async throws(StoreError) -> DatabaseFingerprint? { try await keys.fingerprint() }

    /// Makes the first data key and seed of a tenant of the configuration.
    /// - Returns: whether they are new, and the fingerprint of their database.
    /// - Throws: `tenantUnknown` and `tenantInMemory`, before a store is opened; the errors of `create`.
    package static func create(
        _ tenant: String, in file: ConfigurationFile, given stores: ServerStores = ServerStores()
    ) async throws -> (isNew: Bool, fingerprint: DatabaseFingerprint?) {
        let names = file.settings.tenants.keys.sorted()
        guard names.contains(where: { $0.equalsByteForByte(tenant) }) else {
            let nearest = Spelling.closest(to: tenant, among: names).map { " Did you mean “\($0)”?" } ?? ""
            throw Diagnosis(
                code: "tenantUnknown", reason: "The configuration has no tenant “\(tenant.onOneLine)”.\(nearest)",
                remedy: "Correct the name, or add the tenant to the configuration first.")
        }
        guard stores.keys != nil || file.settings.stores.keys != "memory" else {
            throw Diagnosis(
                code: "tenantInMemory",
                reason: "This configuration keeps keys in memory, and they are lost when this process ends.",
                remedy:
                    "Set stores.keys to sqlite:PATH or postgresql://…. With keys in memory, each start creates new ones automatically."
            )
        }
        return try await with(file, given: stores) { sealing in
            (try await sealing.create(tenant), try await sealing.fingerprint())
        }
    }

    /// Makes a tenant's first data key and seed.
    /// - Returns: false if they were there.
    /// - Throws: `VaultError`, and `auditUnavailable`, before anything is made.
    package func create(_ tenant: String) async throws -> Bool {
        do throws(VaultError) {
            _ = try await TenantSecrets.open(tenant, in: keys, with: wrapping)
            return false
        } catch {
            guard case .tenantMissing = error else { throw error }
        }
        try await shared.audit(.tenantCreated, of: tenant, by: actor, tenant: tenant)
        _ = try await TenantSecrets.create(tenant, in: keys, with: wrapping)
        return true
    }

    /// Wraps all tenants' data keys with the key encryption key in force.
    /// - Returns: how many were wrapped again.
    package func rewrap() async throws -> (count: Int, wrapper: String) {
        let wrapper = wrapping.current.id
        try await shared.audit(.keysRewrapped, of: "data-keys", by: actor, ["wrapper": wrapper])
        return (try await wrapping.rewrap(in: keys), wrapper)
    }

    /// Accepts stores that are older than the state this node has seen: keys that were disabled since then are licensed again.
    /// - Returns: false if none is older, and nothing changed.
    /// - Throws: `copyMissing` without a copy; `StoreError` of a store that does not answer if no other one is older.
    package func acceptOlder() async throws -> Bool {
        guard let copy = shared.engines.keys.copy, let age = shared.engines.keys.age else {
            throw Diagnosis(
                code: "copyMissing",
                reason:
                    "The configuration has no stores.copy, so a node's knowledge of the database ends with its process.",
                remedy: "Restart the node, which then accepts the stores as they are.")
        }
        try await age.look()
        let unknown = await age.lookAtSessions()
        guard !age.setbacks.isEmpty else {
            if let unknown { throw unknown }
            return false
        }
        let seen = try await copy.seen().map { ["seen": $0.text] } ?? [:]
        for (store, _) in age.setbacks { try await shared.audit(.olderAccepted, of: store, by: actor, seen) }
        try await age.accept()
        return true
    }

    private var actor: String { "node:\(shared.node)" }
}
