public import Foundation
import LatchkeyCore

/// A `ContentKeyError` for players and Objective-C code, where the text of a Swift error is lost.
extension ContentKeyError {
    /// The domain of `nsError`.
    public static let errorDomain = "Latchkey.ContentKeyError"

    /// Keys of `nsError.userInfo` in addition to Foundation's.
    package enum UserInfoKey {
        /// The error's code, such as `forbidden`; a `String`.
        package static let code = "LatchkeyCode"
        /// The stage at which it happened, such as `license`; a `String`.
        package static let stage = "LatchkeyStage"
        /// The HTTP status of the service's reply; an `Int`.
        package static let status = "LatchkeyStatus"
        /// The vendor's own error code; a `String`.
        package static let vendorCode = "LatchkeyVendorCode"
        /// The id under which the vendor's support finds the request; a `String`.
        package static let requestID = "LatchkeyRequestID"
        /// Whether the same request may succeed later; a `Bool`.
        package static let isRetryable = "LatchkeyIsRetryable"
    }

    /// The number of the kind.
    public var errorCode: Int { kind.number }

    /// Reason, remedy, and the values of the keys above. For the errors below it, only domains and numbers are included, as their texts may
    /// hold secrets.
    public var errorUserInfo: [String: Any] {
        var information: [String: Any] = [
            NSLocalizedDescriptionKey: reason, NSLocalizedRecoverySuggestionErrorKey: remedy,
            UserInfoKey.code: code, UserInfoKey.isRetryable: isRetryable,
        ]
        information[UserInfoKey.stage] = stage?.rawValue
        information[UserInfoKey.status] = service?.status
        information[UserInfoKey.vendorCode] = service?.code
        information[UserInfoKey.requestID] = service?.requestID
        information[NSUnderlyingErrorKey] = underlying.map { NSError(namesOf: $0) }
        return information
    }

    /// The same error with domain, number, reason, remedy, and the chain of errors below it.
    public var nsError: NSError { NSError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo) }
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

    /// The maximum number of underlying errors included.
    private static let deepest = 8
}
