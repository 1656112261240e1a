public import LatchkeyCore

/// How keys of streaming licenses are kept on the disk, so that a replay needs no license request.
///
///     configuration.licenseCache = LicenseCachePolicy(store: FileKeyStore(folder: caches.appending(path: "licenses")))
///
/// It has an effect if the vendor documents that its streaming licenses may be kept (`RenewalPolicy.cacheLifetime` of the profile) and the
/// system stores keys; otherwise each play has its own license. A replay within the lease counts against no limit of streams, and a right
/// that the viewer lost meanwhile still plays.
public struct LicenseCachePolicy: Sendable {
    /// A dedicated store of one loader for the keys. A folder below the caches will do.
    public var store: any PersistableKeyStore
    /// The maximum number of keys. Defaults to 200. The least recently played title is removed first, with all its keys.
    public var keys: Int
    /// How long a key is kept at most. Defaults to `nil`: as long as vendor and license allow.
    public var lifetime: Duration?
    /// Which keys are kept. Defaults to all. Leave out live titles: their keys rotate, and are not played again.
    public var includes: @Sendable (_ key: KeyURI, _ asset: AssetID?) -> Bool

    /// Makes a policy.
    /// - Parameters:
    ///   - store: a dedicated store of one loader for the keys.
    ///   - keys: the maximum number of keys. Defaults to 200.
    ///   - lifetime: how long a key is kept at most. Defaults to `nil`: as long as vendor and license allow.
    ///   - includes: which keys are kept. Defaults to all.
    public init(
        store: any PersistableKeyStore, keys: Int = 200, lifetime: Duration? = nil,
        includes: @escaping @Sendable (_ key: KeyURI, _ asset: AssetID?) -> Bool = { _, _ in true }
    ) {
        self.store = store
        self.keys = keys
        self.lifetime = lifetime
        self.includes = includes
    }
}
