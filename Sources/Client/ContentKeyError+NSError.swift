public import Foundation
import LatchkeyCore

/// A `ContentKeyError` for players and code of Objective-C, which lose the text of a Swift error on its way.
extension ContentKeyError {
    /// The domain of `nsError`.
    public static let errorDomain = "Latchkey.ContentKeyError"

    /// Keys of `nsError.userInfo` beside Foundation's.
    public enum UserInfoKey {
        /// The error's code, such as `forbidden`; a `String`.
        public static let code = "LatchkeyCode"
        /// The stage at which it happened, such as `license`; a `String`.
        public static let stage = "LatchkeyStage"
        /// The HTTP status of the service's reply; an `Int`.
        public static let status = "LatchkeyStatus"
        /// The vendor's own error code; a `String`.
        public static let vendorCode = "LatchkeyVendorCode"
        /// The id under which the vendor's support finds the request; a `String`.
        public static let requestID = "LatchkeyRequestID"
        /// Whether the same request may succeed later; a `Bool`.
        public static let isRetryable = "LatchkeyIsRetryable"
    }

    /// The same error with domain, number, reason, remedy, and the chain of errors below it. Of those only domains and numbers are
    /// taken over, as their texts may hold secrets.
    public var nsError: NSError {
        var information: [String: Any] = [
            NSLocalizedDescriptionKey: reason, NSLocalizedRecoverySuggestionErrorKey: remedy,
            UserInfoKey.code: code, UserInfoKey.isRetryable: isRetryable,
        ]
        information[UserInfoKey.stage] = stage?.rawValue
        information[UserInfoKey.status] = service?.status
        information[UserInfoKey.vendorCode] = service?.code
        information[UserInfoKey.requestID] = service?.requestID
        information[NSUnderlyingErrorKey] = underlying.map { NSError(namesOf: $0) }
        return NSError(domain: Self.errorDomain, code: kind.number, userInfo: information)
    }
}

extension ContentKeyError.Kind {
    /// The number of `nsError`; 1 for a code that is not Latchkey's. Numbers never change and are never used again.
    public var number: Int { Self.numbers[rawValue] ?? 1 }

    /// The code that a number of `nsError` stands for; nil for a number that is none.
    public init?(number: Int) {
        guard let code = Self.numbers.first(where: { $0.value == number })?.key else { return nil }
        self.init(rawValue: code)
    }

    private static let numbers: [String: Int] = [
        // The loader
        "hostRefused": 100, "insecureURL": 101, "redirectRefused": 102, "deadlineExceeded": 103, "cancelled": 104,
        "dropped": 105, "spcFailed": 106, "credentialsFailed": 107, "integrationFailed": 108,
        "certificateMissing": 109, "leaseEnded": 110, "playerDidNotRenew": 111, "sessionEnded": 112,
        "sessionNotRenewed": 113,
        // What a service said, and what an integration made of it
        "unknownIntegration": 200, "missingSetting": 201, "missingCredential": 202, "contentIdentifierMissing": 203,
        "invalidURL": 204, "certificateMalformed": 205, "lookupMalformed": 206, "licenseMalformed": 207,
        "sessionMalformed": 208, "unauthenticated": 209, "forbidden": 210, "notFound": 211, "invalidRequest": 212,
        "concurrencyLimit": 213, "regionDenied": 214, "rateLimited": 215, "serverTransient": 216,
        "serverPermanent": 217, "redirected": 218,
        // The network
        "timedOut": 300, "hostNotFound": 301, "cannotConnect": 302, "connectionLost": 303, "tlsFailed": 304,
        "bodyTooLarge": 305, "transportFailed": 306, "playlistUnreadable": 307,
        // Stored keys
        "keyStoreUnreadable": 400, "keyStoreUnwritable": 401, "keyIndexDamaged": 402, "keyIndexTooNew": 403,
        "storedKeyTooLarge": 404, "tooManyOfflineAssets": 405, "tooManyOfflineKeys": 406,
        "offlineAssetWithoutKeys": 407, "offlineKeyNotRequested": 408, "keyStoreMissing": 409,
        "storedKeyRenewalUnsupported": 410, "persistableKeyFailed": 411,
        // Players
        "playerUnsupported": 500, "keyUnnamed": 501, "keyNotStorable": 502, "downloadFailed": 503,
        "threadMustNotWait": 510, "unfitForPlayer": 511,
    ]
}

extension ContentKeyError.Kind {
    /// The player does not exist here, as FairPlay in a simulator.
    public static let playerUnsupported = Self(rawValue: "playerUnsupported")
    /// The player asked for a key and did not say which.
    public static let keyUnnamed = Self(rawValue: "keyUnnamed")
    /// The player cannot store the key now.
    public static let keyNotStorable = Self(rawValue: "keyNotStorable")
    /// The player did not download the media.
    public static let downloadFailed = Self(rawValue: "downloadFailed")
    /// The player asked for an answer at once on a thread that must not wait for one.
    public static let threadMustNotWait = Self(rawValue: "threadMustNotWait")
    /// The player cannot do what the vendor's service needs.
    public static let unfitForPlayer = Self(rawValue: "unfitForPlayer")
}

extension NSError {
    /// Domain and number of an error, and of those below it.
    fileprivate convenience init(namesOf error: any Error, depth: Int = 0) {
        if let error = error as? ContentKeyError {
            self.init(domain: ContentKeyError.errorDomain, code: error.kind.number)
        } else {
            let error = error as NSError
            let below = depth < Self.deepest ? error.userInfo[NSUnderlyingErrorKey] as? any Error : nil
            let information = below.map { [NSUnderlyingErrorKey: NSError(namesOf: $0, depth: depth + 1)] }
            self.init(domain: error.domain, code: error.code, userInfo: information ?? [:])
        }
    }

    /// How many errors below one are taken over.
    private static let deepest = 8
}
