package import LatchkeyCore
import LatchkeyFairPlay

/// Derives content keys from a tenant's seed, without a store: every node makes the same key and IV for the same address.
///
/// HKDF-SHA-256 with the seed as input, the tenant's name as salt, and as info `key` or `iv`, the content's length in 4 bytes
/// (big-endian) and its bytes, the 16 bytes of the kid, and the period in 4 bytes if there is one.
///
/// Source: `Documentation/LicenseServer.md` §8.1, RFC 5869.
package struct KeyDerivation: Sendable {
    private let seeds: TenantSeeds

    /// - Parameter seeds: the tenant's seeds.
    package init(_ seeds: TenantSeeds) { self.seeds = seeds }

    /// The key and the IV of an address.
    /// - Parameters:
    ///   - address: the address.
    ///   - version: the seed that the content remembers. Defaults to the current one.
    /// - Throws: `seedUnknown`, `cryptography`.
    package func key(
        at address: KeyAddress, version: SeedVersion? = nil
    ) throws(VaultError) -> ContentKey {
        let version = version ?? seeds.current
        let key = try derived("key", at: address, version)
        let iv = try derived("iv", at: address, version)
        guard let content = ContentKey(key: key, iv: iv) else {
            throw VaultError(OpenSSLError(in: "HKDF"))
        }
        return content
    }

    private func derived(
        _ purpose: String, at address: KeyAddress, _ version: SeedVersion
    ) throws(VaultError) -> Secret {
        let content = [UInt8](address.content.bytes)
        let info =
            Array(purpose.utf8) + UInt32(content.count).bytes + content + address.kid.bytes
            + (address.period?.bytes ?? [])
        return try expand(info, version, count: 16)
    }

    private func expand(_ info: [UInt8], _ version: SeedVersion, count: Int) throws(VaultError) -> Secret {
        guard let seed = seeds.seed(version) else {
            throw VaultError.protection(
                .seedUnknown, reason: "There is no seed of version \(version.number).",
                remedy: "Configure the seed again; without it, its keys are lost.")
        }
        do { return try HKDF.sha256(seed, salt: Array(seeds.tenant.utf8), info: info, count: count) } catch {
            throw VaultError(error)
        }
    }
}

extension UInt32 {
    /// The 4 bytes, the most significant one first.
    package var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) } }
}
