import LatchkeyCore
import LatchkeySystem
import LatchkeyVault

extension KeyRow {
    /// Checks that every engine can store the row, and that it is one key's.
    /// - Throws: `storeUnfit`.
    func check(for engine: String) throws(StoreError) {
        try StoreError.check(sealed.tenant, "tenant", StoreLimits.tenantBytes, engine)
        guard sealed.subject == .contentKey(kid) else {
            throw StoreError(.unfit, engine, reason: "A key's row has the secret of another subject.")
        }
        guard !trackType.utf8.contains(0) else {
            throw StoreError(.unfit, engine, reason: "A key's track type contains a NUL.")
        }
    }
}

extension KeyRow {
    /// The kid of a row that replaces another.
    /// - Throws: `storeUnfit` if it is of another tenant or kid.
    func kid(replacing held: SealedKey, for engine: String) throws(StoreError) -> KeyID {
        guard sealed.tenant.equalsByteForByte(held.tenant), try held.contentKeyID(for: engine) == kid else {
            throw StoreError(
                .unfit, engine, reason: "A key can only be replaced with a key of the same tenant and kid.")
        }
        return kid
    }
}

extension SealedKey {
    /// The kid of a content key.
    /// - Throws: `storeUnfit` for anything but a content key.
    func contentKeyID(for engine: String) throws(StoreError) -> KeyID {
        try StoreError.check(tenant, "tenant", StoreLimits.tenantBytes, engine)
        guard case .contentKey(let kid) = subject else {
            throw StoreError(.unfit, engine, reason: "A seed was given instead of a content key.")
        }
        return kid
    }

    /// The version of a seed.
    /// - Throws: `storeUnfit` for anything but a seed.
    func seedVersion(for engine: String) throws(StoreError) -> UInt32 {
        try StoreError.check(tenant, "tenant", StoreLimits.tenantBytes, engine)
        guard case .seed(let version) = subject else {
            throw StoreError(.unfit, engine, reason: "A content key was given instead of a seed.")
        }
        return version.number
    }
}
