public import LatchkeyCore

/// Why a key was not stored, found or renewed.
public struct OfflineError: DiagnosableError, Equatable {
    /// The kind of error.
    public let kind: Kind
    public let reason: String

    public var code: String { kind.rawValue }
    public var remedy: String { kind.remedy }

    /// Makes an error; a store of an app's own may throw it, with a reason that tells more than the type of another error would.
    /// - Parameters:
    ///   - kind: the kind of error.
    ///   - reason: what happened, without secrets.
    public init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    /// The kinds of error by their stable codes.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The store's items could not be read.
        public static let storeUnreadable = Self(rawValue: "keyStoreUnreadable")
        /// An item could not be written. What was there before still is.
        public static let storeUnwritable = Self(rawValue: "keyStoreUnwritable")
        /// The index is not what this library writes. The keys stay where they are.
        public static let indexDamaged = Self(rawValue: "keyIndexDamaged")
        /// A newer version of this library wrote the index. The keys stay where they are.
        public static let indexTooNew = Self(rawValue: "keyIndexTooNew")
        /// The player made a stored key that is larger than the policy allows.
        public static let keyTooLarge = Self(rawValue: "storedKeyTooLarge")
        /// There are as many assets as the policy allows.
        public static let tooManyAssets = Self(rawValue: "tooManyOfflineAssets")
        /// There would be more keys than the policy allows.
        public static let tooManyKeys = Self(rawValue: "tooManyOfflineKeys")
        /// An asset was requested without a key.
        public static let noKeys = Self(rawValue: "offlineAssetWithoutKeys")
        /// A key came that no asset needs.
        public static let keyNotRequested = Self(rawValue: "offlineKeyNotRequested")
        /// The loader was made without a store.
        public static let noStore = Self(rawValue: "keyStoreMissing")
        /// The vendor renews no stored key.
        public static let renewalUnsupported = Self(rawValue: "storedKeyRenewalUnsupported")
    }
}

extension OfflineError.Kind {
    fileprivate var remedy: String {
        switch self {
        case .storeUnreadable:
            "Try again after the device was unlocked; else call `deleteAll()` and store anew."
        case .storeUnwritable: "Free space on the device, then request the key again."
        case .indexDamaged: "Restore the index, or call `deleteAll()` and store the keys again; the media can stay."
        case .indexTooNew: "Update the app, or call `deleteAll()` and store the keys again; the media can stay."
        case .keyTooLarge: "Raise `OfflinePolicy.largestKey` if the player's keys are that large."
        case .tooManyAssets: "Delete an asset, or raise `OfflinePolicy.assets`."
        case .tooManyKeys: "Delete an asset, or raise `OfflinePolicy.keys`."
        case .noKeys: "Name the keys of all chosen renditions."
        case .keyNotRequested: "Call `request(_:keys:)` before the player asks for the key."
        case .noStore: "Set `LoaderConfiguration.keyStore`."
        case .renewalUnsupported: "Delete the asset and request it again while the service can be reached."
        default: "Look at the underlying error of the store."
        }
    }
}

extension OfflineError {
    /// Any error of a store; of an error that is no `DiagnosableError`, whose texts may hold secrets, only the type.
    init(_ error: any Error, otherwise kind: Kind) {
        switch error {
        case let error as OfflineError: self = error
        case let error as any DiagnosableError: self.init(kind, error.reason)
        default: self.init(kind, "The store threw \(type(of: error)).")
        }
    }
}

extension ContentKeyError {
    /// The same as an answer to a key request.
    init(_ error: OfflineError, stage: Stage) {
        self.init(Kind(rawValue: error.code), stage: stage, error.reason, remedy: error.remedy)
    }
}

extension ContentKeyError.Kind {
    /// The player made no stored key of the CKC.
    public static let persistableKeyFailed = Self(rawValue: "persistableKeyFailed")
}
