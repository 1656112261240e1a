extension Diagnosis.Kind {
    /// Errors of storing, finding or renewing a key: 400 to 499.
    static let storedKeys: [Self] = [
        .keyStoreUnreadable, .keyStoreUnwritable, .keyIndexDamaged, .keyIndexTooNew, .storedKeyTooLarge,
        .tooManyOfflineAssets, .tooManyOfflineKeys, .offlineAssetWithoutKeys, .offlineKeyNotRequested,
        .keyStoreMissing, .storedKeyRenewalUnsupported, .persistableKeyFailed,
    ]

    /// The items of the key store could not be read: often the device has not been unlocked since it started.
    ///
    /// - Status: none; nothing was sent.
    /// - App: tries again after the device was unlocked; otherwise it calls `deleteAll()` and stores the keys anew.
    public static let keyStoreUnreadable = Self(
        400, "keyStoreUnreadable", "The store's items could not be read.",
        "Try again after the device was unlocked; if that fails, call `deleteAll()` and store the keys again.")
    /// An item could not be written to the key store; the previous content is unchanged.
    ///
    /// - Status: any or none: the license may have come before.
    /// - App: asks the viewer to free space, and requests the key again.
    public static let keyStoreUnwritable = Self(
        401, "keyStoreUnwritable", "An item could not be written.",
        "Free space on the device, then request the key again.")
    /// The index of the key store was not written by Latchkey or is damaged; the keys stay where they are.
    ///
    /// - Status: none; nothing was sent.
    /// - App: restores the index, or calls `deleteAll()` and stores the keys again; the media can stay.
    public static let keyIndexDamaged = Self(
        402, "keyIndexDamaged", "The index is damaged, or was not written by this library.",
        "Restore the index, or call `deleteAll()` and store the keys again; the media can stay.")
    /// A newer version of Latchkey wrote the index of the key store; the keys stay where they are.
    ///
    /// - Status: none; nothing was sent.
    /// - App: asks for an update of the app, or calls `deleteAll()` and stores the keys again.
    public static let keyIndexTooNew = Self(
        403, "keyIndexTooNew", "A newer version of this library wrote the index.",
        "Update the app, or call `deleteAll()` and store the keys again; the media can stay.")
    /// The player's stored key is larger than `OfflinePolicy.largestKey`.
    ///
    /// - Status: a status of success: the license came.
    /// - App: raises the limit, if the player's keys are that large.
    public static let storedKeyTooLarge = Self(
        404, "storedKeyTooLarge", "The player made a stored key that is larger than the policy allows.",
        "Raise `OfflinePolicy.largestKey` if the player's keys are that large.")
    /// The number of stored assets has reached `OfflinePolicy.assets`.
    ///
    /// - Status: none; nothing was sent.
    /// - App: asks the viewer to delete a download, or raises the limit.
    public static let tooManyOfflineAssets = Self(
        405, "tooManyOfflineAssets", "There are as many assets as the policy allows.",
        "Delete an asset, or raise `OfflinePolicy.assets`.")
    /// The number of stored keys would exceed `OfflinePolicy.keys`.
    ///
    /// - Status: none; nothing was sent.
    /// - App: asks the viewer to delete a download, or raises the limit.
    public static let tooManyOfflineKeys = Self(
        406, "tooManyOfflineKeys", "There would be more keys than the policy allows.",
        "Delete an asset, or raise `OfflinePolicy.keys`.")
    /// `OfflineKeys.register(_:keys:)` was called without a key.
    ///
    /// - Status: none; nothing was sent.
    /// - App: passes the keys of all renditions that it downloads.
    public static let offlineAssetWithoutKeys = Self(
        407, "offlineAssetWithoutKeys", "An asset was requested without a key.",
        "Name the keys of all chosen renditions.")
    /// A player requested a key to store that no requested asset needs.
    ///
    /// - Status: none; nothing was sent.
    /// - App: calls `OfflineKeys.register(_:keys:)` before the player requests the key.
    public static let offlineKeyNotRequested = Self(
        408, "offlineKeyNotRequested", "The player requested a key that no asset needs.",
        "Call `register(_:keys:)` before the player asks for the key.")
    /// A key should be stored, but the loader's configuration has no `keyStore`.
    ///
    /// - Status: none; nothing was sent.
    /// - App: sets `LoaderConfiguration.keyStore`.
    public static let keyStoreMissing = Self(
        409, "keyStoreMissing", "The loader was made without a store.",
        "Set `LoaderConfiguration.keyStore`.")
    /// A stored key should be renewed, but the vendor's integration says that its service renews none.
    ///
    /// - Status: none; nothing was sent.
    /// - App: deletes the asset, and requests it again while the service can be reached.
    public static let storedKeyRenewalUnsupported = Self(
        410, "storedKeyRenewalUnsupported", "The vendor does not renew stored keys.",
        "Delete the asset and request it again while the service can be reached.")
    /// The player threw an error instead of making a stored key of the CKC, or returned an empty one.
    ///
    /// - Status: a status of success: the license came.
    /// - App: stores the key again while the service can be reached.
    public static let persistableKeyFailed = Self(
        411, "persistableKeyFailed", "The player could not create a stored key from the CKC.",
        "Store the key again while the service can be reached.")
}
