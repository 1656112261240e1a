public import Foundation

/// Errors with the domains and numbers of Apple's.
///
/// Source: `player-apis.md` §3.12.
public enum AppleError {
    /// The domain of the numbers that FairPlay reports.
    public static let statusDomain = "NSOSStatusErrorDomain"

    /// An error of FairPlay itself.
    /// - Parameters:
    ///   - number: the number, such as -42679 for a bad certificate.
    ///   - reason: what happened; Apple's own texts say little, a test's reader wants more.
    public static func status(_ number: Int, _ reason: String) -> NSError {
        NSError(domain: statusDomain, code: number, userInfo: [NSLocalizedDescriptionKey: reason])
    }

    /// What is left of an app's error behind a player.
    ///
    /// Objective-C sees domain and code of a Swift error, but not its text; an `NSError` passes unchanged.
    public static func passedOn(_ error: any Error) -> NSError {
        if isNSError(error) { return error as NSError }
        let bridged = error as NSError
        return NSError(domain: bridged.domain, code: bridged.code)
    }

    /// Whether an error keeps its text on the way through a player.
    public static func isNSError(_ error: any Error) -> Bool { type(of: error) is NSError.Type }
}
