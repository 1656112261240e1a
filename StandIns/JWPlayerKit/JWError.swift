public import Foundation
import StandInPlayers

/// What a player reports. Numbers from 281000 on are the iOS SDK's.
public final class JWError: NSObject, Error, CustomNSError, LocalizedError {
    public static let errorDomain = "JWPlayerKit"

    public let code: Int
    public let message: String
    /// What happened beneath.
    public let underlyingError: NSError?

    init(code: Int, _ message: String, underlying: NSError? = nil) {
        self.code = code
        self.message = message
        underlyingError = underlying
    }

    /// Without a certificate the framework falls through, and AVFoundation loads the key's URL itself.
    convenience init(_ failure: KeyFailure) {
        var underlying = failure.underlying
        if case .certificate(nil, _) = failure {
            underlying = NSError(
                domain: NSURLErrorDomain, code: NSURLErrorUnsupportedURL,
                userInfo: [NSLocalizedDescriptionKey: "unsupported URL"])
        }
        self.init(code: 281_000, failure.reason, underlying: underlying)
    }

    public var errorCode: Int { code }
    public var errorDescription: String? { message }
    public var errorUserInfo: [String: Any] {
        var information: [String: Any] = [NSLocalizedDescriptionKey: message]
        information[NSUnderlyingErrorKey] = underlyingError
        return information
    }
}
