package import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem

/// Keys by the name of their content, for vendors whose requests name nothing else.
extension TenantVault {
    /// The one key of a content: the store's, or else the key that tenant and content determine.
    /// - Throws: `severalKeys`, `store` if the store does not answer and the key was not read before.
    package func kid(ofOnly content: ContentName) async throws(VaultError) -> KeyID {
        let now = timekeeper.uptime
        if let known = state.withLock({ $0.onlyKeys.value(content) }) {
            if known.end.map({ now >= $0 }) ?? false, !store.isAway {
                // No licensed viewer waits for the store: it is asked in the background.
                startTask { [self] in _ = try? await readOnlyKid(of: content) }
            }
            return known.kid
        }
        return try await readOnlyKid(of: content)
    }

    private func readOnlyKid(of content: ContentName) async throws(VaultError) -> KeyID {
        let rows = try await VaultError.asking { () throws(StoreError) in
            try await self.rows(beginningWith: content)
        }
        let kids = rows.filter { $0.content == content }.map(\.kid)
        guard kids.count <= 1 else {
            state.withLock { $0.onlyKeys.remove(content) }
            throw .severalKeys(content)
        }
        let stated = kids.first
        let kid = if let stated { stated } else { try Self.kid(of: content, tenant: secrets.tenant) }
        let end = stated == nil ? timekeeper.uptime + settings.shortLife : nil
        state.withLock { $0.onlyKeys.set(OnlyKey(kid: kid, end: end), for: content) }
        return kid
    }

    /// The kid of a content without a packager's kid: the first 16 bytes of the SHA-256 of tenant and content.
    package static func kid(of content: ContentName, tenant: String) throws(VaultError) -> KeyID {
        do throws(OpenSSLError) {
            let digest = try MessageDigest.sha256(
                Array("latchkey/content-kid/1\0\(tenant)\0".utf8) + [UInt8](content.bytes))
            guard let kid = KeyID(bytes: digest.prefix(16)) else { throw OpenSSLError(in: "making a key identifier") }
            return kid
        } catch {
            throw VaultError(error)
        }
    }

    /// Two rows at most: the rows of a content come before those of contents whose names begin with its name.
    private func rows(beginningWith content: ContentName) async throws(StoreError) -> [KeyRow] {
        guard let text = content.text else { return [] }
        return try await store.page(of: secrets.tenant, search: text, after: nil, limit: 2)
    }
}
