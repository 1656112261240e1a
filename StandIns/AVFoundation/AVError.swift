/// The domain of AVFoundation's errors.
public let AVFoundationErrorDomain = "AVFoundationErrorDomain"

/// An error of AVFoundation, as far as keys are concerned. `error as NSError` has Apple's domain and number.
// Sound: `userInfo` is set once, by stand-ins, with texts, numbers and errors.
public struct AVError: CustomNSError, LocalizedError, @unchecked Sendable {
    public static var errorDomain: String { AVFoundationErrorDomain }

    /// The number.
    public let code: Code
    /// The user information, as in `NSError`.
    public let userInfo: [String: Any]

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        self.userInfo = userInfo
    }

    public var errorCode: Int { code.rawValue }
    public var errorUserInfo: [String: Any] { userInfo }
    public var errorDescription: String? { userInfo[NSLocalizedDescriptionKey] as? String }

    /// The numbers.
    ///
    /// Source: `Documentation/Players.md` §3.12.
    public enum Code: Int, Sendable {
        case unknown = -11800
        case mediaServicesWereReset = -11819
        case contentIsProtected = -11831
        case contentIsNotAuthorized = -11835
        case applicationIsNotAuthorized = -11836
        case serverIncorrectlyConfigured = -11850
        case airPlayReceiverRequiresInternet = -11857
        case createContentKeyRequestFailed = -11860
        case contentIsUnavailable = -11863
        case noLongerPlayable = -11867
        case noCompatibleAlternatesForExternalDisplay = -11868
        case externalPlaybackNotSupportedForAsset = -11870
        case operationCancelled = -11878
        case contentKeyRequestCancelled = -11879
        case airPlayReceiverTemporarilyUnavailable = -11882
    }
}

extension AVError {
    public static var unknown: Code { .unknown }
    public static var mediaServicesWereReset: Code { .mediaServicesWereReset }
    public static var contentIsProtected: Code { .contentIsProtected }
    public static var contentIsNotAuthorized: Code { .contentIsNotAuthorized }
    public static var applicationIsNotAuthorized: Code { .applicationIsNotAuthorized }
    public static var serverIncorrectlyConfigured: Code { .serverIncorrectlyConfigured }
    public static var createContentKeyRequestFailed: Code { .createContentKeyRequestFailed }
    public static var contentIsUnavailable: Code { .contentIsUnavailable }
    public static var noLongerPlayable: Code { .noLongerPlayable }
    public static var operationCancelled: Code { .operationCancelled }
    public static var contentKeyRequestCancelled: Code { .contentKeyRequestCancelled }

    /// Wraps a FairPlay error as AVFoundation does: `unknown`, with the FairPlay number as its underlying error.
    static func wrapping(_ status: NSError) -> AVError {
        AVError(
            .unknown,
            userInfo: [
                NSLocalizedDescriptionKey: "The operation could not be completed. \(status.localizedDescription)",
                NSLocalizedFailureReasonErrorKey: "An unknown error occurred (\(status.code))",
                NSUnderlyingErrorKey: status,
            ])
    }

    static func because(_ code: Code, _ text: String) -> AVError {
        AVError(code, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
