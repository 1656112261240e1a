extension Diagnosis.Kind {
    /// What keeps a key from being stored, found or renewed: 400 to 499.
    static let storedKeys: [Self] = [
        .keyStoreUnreadable, .keyStoreUnwritable, .keyIndexDamaged, .keyIndexTooNew, .storedKeyTooLarge,
        .tooManyOfflineAssets, .tooManyOfflineKeys, .offlineAssetWithoutKeys, .offlineKeyNotRequested,
        .keyStoreMissing, .storedKeyRenewalUnsupported, .persistableKeyFailed,
    ]

    /// Often a device that was not unlocked since it started.
    public static let keyStoreUnreadable = Self(
        400, "keyStoreUnreadable", "The store's items could not be read.",
        "Try again after the device was unlocked; else call `deleteAll()` and store anew.")
    /// What was there before still is.
    public static let keyStoreUnwritable = Self(
        401, "keyStoreUnwritable", "An item could not be written.",
        "Free space on the device, then request the key again.")
    /// The keys stay where they are.
    public static let keyIndexDamaged = Self(
        402, "keyIndexDamaged", "The index is not what this library writes.",
        "Restore the index, or call `deleteAll()` and store the keys again; the media can stay.")
    /// The keys stay where they are.
    public static let keyIndexTooNew = Self(
        403, "keyIndexTooNew", "A newer version of this library wrote the index.",
        "Update the app, or call `deleteAll()` and store the keys again; the media can stay.")
    /// The limit is `OfflinePolicy.largestKey`.
    public static let storedKeyTooLarge = Self(
        404, "storedKeyTooLarge", "The player made a stored key that is larger than the policy allows.",
        "Raise `OfflinePolicy.largestKey` if the player's keys are that large.")
    /// The limit is `OfflinePolicy.assets`.
    public static let tooManyOfflineAssets = Self(
        405, "tooManyOfflineAssets", "There are as many assets as the policy allows.",
        "Delete an asset, or raise `OfflinePolicy.assets`.")
    /// The limit is `OfflinePolicy.keys`.
    public static let tooManyOfflineKeys = Self(
        406, "tooManyOfflineKeys", "There would be more keys than the policy allows.",
        "Delete an asset, or raise `OfflinePolicy.keys`.")
    /// `OfflineKeys.request(_:keys:)` got no key.
    public static let offlineAssetWithoutKeys = Self(
        407, "offlineAssetWithoutKeys", "An asset was requested without a key.",
        "Name the keys of all chosen renditions.")
    /// A key is stored only for an asset that was requested.
    public static let offlineKeyNotRequested = Self(
        408, "offlineKeyNotRequested", "A key came that no asset needs.",
        "Call `request(_:keys:)` before the player asks for the key.")
    /// `LoaderConfiguration.keyStore` is `nil`.
    public static let keyStoreMissing = Self(
        409, "keyStoreMissing", "The loader was made without a store.",
        "Set `LoaderConfiguration.keyStore`.")
    /// The integration says so.
    public static let storedKeyRenewalUnsupported = Self(
        410, "storedKeyRenewalUnsupported", "The vendor renews no stored key.",
        "Delete the asset and request it again while the service can be reached.")
    /// The player threw, or gave an empty key.
    public static let persistableKeyFailed = Self(
        411, "persistableKeyFailed", "The player made no stored key of the CKC.",
        "Store the key again while the service can be reached.")
}
