public import Foundation
import StandInPlayers

/// A player's error. The iOS SDK's numbers begin at 281000.
// Sound: immutable, like every `NSError`.
open class JWError: NSError, @unchecked Sendable {
    private static let errorDomain = "JWPlayerKit"

    init(code: Int, _ message: String, underlying: NSError? = nil) {
        var information: [String: Any] = [NSLocalizedDescriptionKey: message]
        information[NSUnderlyingErrorKey] = underlying
        super.init(domain: Self.errorDomain, code: code, userInfo: information)
    }

    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// Without a certificate, the framework falls through and AVFoundation loads the key's URL itself.
    convenience init(_ failure: KeyFailure) {
        var underlying = failure.underlying
        if case .certificate(nil, _) = failure {
            underlying = NSError(
                domain: NSURLErrorDomain, code: NSURLErrorUnsupportedURL,
                userInfo: [NSLocalizedDescriptionKey: "unsupported URL"])
        }
        self.init(code: 281_000, failure.reason, underlying: underlying)
    }
}
