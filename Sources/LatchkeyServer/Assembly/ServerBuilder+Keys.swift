import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault

/// The keys that seal the tenants' keys, and the tenants' secrets that they open. Nothing here changes a store.
extension ServerBuilder {
    /// The key encryption keys: the one in force, and the other known ones.
    func wrapping(_ problems: inout ServerProblems) async -> KeyEncryptionKeys? {
        let others = [
            ("formerKeyEncryptionKey", settings.formerKeyEncryptionKey),
            ("nextKeyEncryptionKey", settings.nextKeyEncryptionKey),
        ]
        guard let source = settings.keyEncryptionKey else {
            for (place, other) in others where other != nil {
                problems.add(.init(place, "There is no keyEncryptionKey.", "Add keyEncryptionKey as well."))
            }
            guard engines.keyStorage == .memory else {
                problems.add(
                    .init(
                        "keyEncryptionKey", "Keys are stored without a key encryption key to seal them.",
                        "Name a file of 32 random bytes, for example from openssl rand -base64 32."))
                return nil
            }
            // The keys in memory stay over a reload, and so do the keys that wrap them.
            if let former { return former.wrapping }
            return problems.collecting("keyEncryptionKey") {
                KeyEncryptionKeys(try KeyEncryptionKey(id: "memory", key: .random(32)))
            }
        }
        if engines.keyStorage == .memory {
            problems.add(
                .init(
                    "stores.keys",
                    "Keys are kept in memory although there is a keyEncryptionKey: each start creates new ones.",
                    "Set stores.keys to sqlite:PATH or postgresql://…, or remove keyEncryptionKey for a trial."))
        }
        let current = await problems.awaiting("keyEncryptionKey") { try await key(source) }
        var known: [KeyEncryptionKey] = []
        for (place, source) in others {
            guard let source else { continue }
            guard let other = await problems.awaiting(place, { try await key(source) }) else { continue }
            for one in known + [current].compactMap(\.self) where one.id.equalsByteForByte(other.id) {
                let isSame = problems.collecting(place) { try one.isSame(as: other) } ?? true
                guard !isSame else { continue }
                problems.add(
                    .init(
                        place, "Another key encryption key is also named “\(other.id.onOneLine.prefix(60))”.",
                        "Give each key a unique id."))
            }
            known.append(other)
        }
        return current.map { KeyEncryptionKeys($0, known: known) }
    }

    /// A token may have to open it.
    private func key(_ source: ServerSettings.KeySource) async throws -> KeyEncryptionKey {
        let places = file.secrets
        return try await file.threads.run("the key encryption key", within: Self.tokenLimit) {
            try KeyEncryptionKey(source, in: places)
        }
    }

    /// Says that data keys are still wrapped by another key than the one in force, which must stay known until then. A store that does not
    /// answer is reported where its tenants are opened.
    func wrappedByOthers(_ wrapping: KeyEncryptionKeys) async -> [String] {
        let rows = (try? await engines.keys.dataKeys()) ?? []
        let current = wrapping.current.id
        let others = Set(rows.map(\.wrapper).filter { !$0.equalsByteForByte(current) }).sorted()
        guard !others.isEmpty else { return [] }
        let names = others.map { "“\($0.onOneLine.prefix(60))”" }.joined(separator: ", ")
        return [
            "Data keys are still wrapped by \(names). Once all nodes know “\(current.onOneLine.prefix(60))”, run latchkey-server keys rewrap."
        ]
    }

    /// Checks that the database of the keys has the configured fingerprint.
    func checkFingerprint(_ problems: inout ServerProblems) async {
        // A database that is away is checked when it is back, as every database is.
        guard let expected = engines.settings.fingerprint, !engines.keys.isAway, !engines.standsInForKeys else {
            return
        }
        let place = "stores.fingerprint"
        let keys = engines.keys
        guard let found = await problems.awaiting(place, { try await keys.fingerprint() }) else { return }
        guard found != expected else { return }
        let words = found.map { "is \($0)" } ?? "has no fingerprint"
        problems.add(
            .init(
                place, "The keys' database \(words), and the configuration expects \(expected).",
                "Set stores.keys to the right database, or restore it. If this one is right, put its fingerprint here."
            ))
    }

    /// A tenant's data keys and seeds. They are opened, never made: `KeySealing` makes them on request. Only keys in memory are made here,
    /// because nothing outlives the process, and no other process could make them.
    func secrets(of name: String, _ wrapping: KeyEncryptionKeys) async throws -> TenantSecrets {
        guard engines.keyStorage != .memory, !engines.standsInForKeys else {
            return try await TenantSecrets.create(name, in: engines.keys, with: wrapping)
        }
        do throws(VaultError) {
            return try await TenantSecrets.open(name, in: engines.keys, with: wrapping)
        } catch {
            guard case .tenantMissing = error else { throw error }
            throw try await missing(name)
        }
    }

    /// Says that the store has no keys of a tenant, and whose it has.
    private func missing(_ name: String) async throws(StoreError) -> Diagnosis {
        let tenants = Set(try await engines.keys.dataKeys().map(\.tenant)).sorted()
        let fingerprint = try await engines.keys.fingerprint().map { " Its fingerprint is \($0)." } ?? ""
        let create =
            engines.keyStorage == .program
            ? "LicenseServer.createTenant" : "latchkey-server tenant create \(name) --config \(file.path)"
        guard !tenants.contains(where: { $0.equalsByteForByte(name) }) else {
            return Diagnosis(
                code: "tenantKeysMissing",
                reason: "The store has a data key of the tenant “\(name)” but no seed.\(fingerprint)",
                remedy: "Restore the whole store; or, if its creation was interrupted, run \(create).")
        }
        let others: String
        if let nearest = Spelling.closest(to: name, among: tenants) {
            others = "; it has those of “\(nearest.onOneLine)”."
        } else if tenants.isEmpty {
            others = " or of any other tenant: the database is new, or not the previous one."
        } else {
            let names = tenants.prefix(5).map { "“\($0.onOneLine)”" }.joined(separator: ", ")
            others = "; it has those of \(names)\(tenants.count > 5 ? " and others" : "")."
        }
        return Diagnosis(
            code: "tenantKeysMissing", reason: "The store has no keys of the tenant “\(name)”\(others)\(fingerprint)",
            remedy: "Correct the name or the store; or, for a new tenant, run \(create).")
    }
}
