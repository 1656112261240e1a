package import LatchkeyCore

/// Where packagers' keys come from: derivation, a store, or both.
///
/// The same address has to give the same key and IV in every call, on every node.
package protocol ContentKeySource: Sendable {
    /// The keys of some addresses. All are asked for at once, so that a store needs one round trip.
    /// - Throws: any error if one of them is not to be had now; nothing is handed out then.
    func keys(at addresses: [KeyAddress]) async throws -> [KeyAddress: ContentKey]
}

/// Keys by derivation alone.
package struct DerivedKeys: ContentKeySource {
    private let derivation: KeyDerivation
    private let version: @Sendable (ContentName) -> SeedVersion?

    /// - Parameters:
    ///   - derivation: the tenant's derivation.
    ///   - version: the seed that a content remembers; `nil` for new content, which gets the current one. Defaults to the current one for
    ///     all, which holds as long as there is one seed.
    package init(
        _ derivation: KeyDerivation, version: @escaping @Sendable (ContentName) -> SeedVersion? = { _ in nil }
    ) {
        self.derivation = derivation
        self.version = version
    }

    package func keys(at addresses: [KeyAddress]) throws(KeyProtectionError) -> [KeyAddress: ContentKey] {
        var keys: [KeyAddress: ContentKey] = [:]
        for address in addresses {
            keys[address] = try derivation.key(at: address, version: version(address.content))
        }
        return keys
    }
}
