package import LatchkeyCore

/// The source of packagers' keys: derivation, a store, or both.
///
/// The same address has to give the same key and IV in every call, on every node.
package protocol ContentKeySource: Sendable {
    /// The keys of some addresses, with the IVs that encryptors chose, all in one call, so that a store needs one round trip.
    /// - Throws: any error if one of them is unavailable; then none is returned.
    func keys(for demands: [KeyDemand]) async throws -> [KeyAddress: ContentKey]
}

/// A key that a packager asks for, with the facts that a license server needs later.
package struct KeyDemand: Sendable {
    /// The content and the key's identifier.
    package let address: KeyAddress
    /// The IV that the encryptor chose, 16 bytes; `nil` if it leaves that to the source.
    package var iv: Secret?
    /// How the media is encrypted; `nil` if the request does not say.
    package var scheme: EncryptionScheme?
    /// The tracks that it encrypts, as the packager names and limits them.
    package var tracks: [EncryptionContract.Rule]
    /// The indexes of the crypto periods that it encrypts; empty without rotation.
    package var periods: [UInt32]

    package init(
        _ address: KeyAddress, iv: Secret? = nil, scheme: EncryptionScheme? = nil,
        tracks: [EncryptionContract.Rule] = [], periods: [UInt32] = []
    ) {
        self.address = address
        self.iv = iv
        self.scheme = scheme
        self.tracks = tracks
        self.periods = periods
    }
}

/// Keys by derivation alone.
package struct DerivedKeys: ContentKeySource {
    private let derivation: KeyDerivation
    private let version: @Sendable (ContentName) -> SeedVersion?

    /// - Parameters:
    ///   - derivation: the tenant's derivation.
    ///   - version: the seed that a content remembers; `nil` for new content, which gets the current one. Defaults to the current one for
    ///     all, which is right as long as there is one seed.
    package init(
        _ derivation: KeyDerivation, version: @escaping @Sendable (ContentName) -> SeedVersion? = { _ in nil }
    ) {
        self.derivation = derivation
        self.version = version
    }

    package func keys(for demands: [KeyDemand]) throws(VaultError) -> [KeyAddress: ContentKey] {
        var keys: [KeyAddress: ContentKey] = [:]
        for demand in demands {
            let derived = try derivation.key(at: demand.address, version: version(demand.address.content))
            keys[demand.address] = derived.with(iv: demand.iv)
        }
        return keys
    }
}

extension ContentKey {
    /// The key with an IV chosen elsewhere; unchanged if that is `nil` or not 16 bytes.
    func with(iv: Secret?) -> ContentKey { iv.flatMap { ContentKey(key: key, iv: $0) } ?? self }
}
