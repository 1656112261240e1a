public import Foundation

/// Errors with Apple's domains and numbers.
///
/// Source: `Documentation/Players.md` §3.12.
public enum AppleError {
    /// The domain of FairPlay's numbers.
    public static let statusDomain = "NSOSStatusErrorDomain"

    /// An error of FairPlay.
    /// - Parameters:
    ///   - number: the number, such as -42679 for a bad certificate.
    ///   - reason: what happened, in more detail than Apple's own texts.
    public static func status(_ number: Int, _ reason: String) -> NSError {
        NSError(domain: statusDomain, code: number, userInfo: [NSLocalizedDescriptionKey: reason])
    }

    /// An app's error after it has passed through a player.
    ///
    /// Objective-C sees the domain and code of a Swift error, but not its text. An `NSError` passes unchanged.
    public static func passedOn(_ error: any Error) -> NSError {
        if isNSError(error) { return error as NSError }
        let bridged = error as NSError
        return NSError(domain: bridged.domain, code: bridged.code)
    }

    /// Whether an error keeps its text when it passes through a player.
    public static func isNSError(_ error: any Error) -> Bool { type(of: error) is NSError.Type }
}
