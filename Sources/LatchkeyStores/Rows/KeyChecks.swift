import LatchkeyCore
import LatchkeyServer

extension KeyRow {
    /// Checks that the row can stand in every engine, and that it is one key's.
    /// - Throws: `storeUnfit`.
    func check(for engine: String) throws(StoreError) {
        try StoreError.check(sealed.tenant, "tenant", StoreLimits.tenantBytes, engine)
        guard sealed.subject == .contentKey(kid) else {
            throw StoreError(.unfit, engine, reason: "The row of a key has another subject's secret.")
        }
        guard !trackType.utf8.contains(0) else {
            throw StoreError(.unfit, engine, reason: "The track type of a key has a NUL in it.")
        }
    }
}

extension SealedKey {
    /// The version of a seed.
    /// - Throws: `storeUnfit` for what is no seed.
    func seedVersion(for engine: String) throws(StoreError) -> UInt32 {
        try StoreError.check(tenant, "tenant", StoreLimits.tenantBytes, engine)
        guard case .seed(let version) = subject else {
            throw StoreError(.unfit, engine, reason: "A content key came in a seed's place.")
        }
        return version.number
    }
}
