import Foundation
public import LatchkeyCore
public import LatchkeyVendors

/// Why a key request got no key: what happened, at which stage, what the service said, whether a retry can help, what to do.
public struct ContentKeyError: DiagnosableError {
    /// The kind of error.
    public let kind: Kind
    /// The stage at which it happened; nil before any.
    public internal(set) var stage: Stage?
    public internal(set) var reason: String
    public let remedy: String
    /// Whether the same request may succeed later.
    public let isRetryable: Bool
    /// What the service said, where it was asked.
    public internal(set) var service: ServiceReply?
    /// How many attempts were made, the one with new credentials included.
    public internal(set) var attempts = 1
    /// The app's or the player's own error. Not part of the description, as it may hold a secret.
    public let underlying: (any Error)?

    public var code: String { kind.rawValue }

    /// Makes an error.
    public init(
        _ kind: Kind, stage: Stage? = nil, _ reason: String, remedy: String, isRetryable: Bool = false,
        service: ServiceReply? = nil, underlying: (any Error)? = nil
    ) {
        self.kind = kind
        self.stage = stage
        self.reason = reason
        self.remedy = remedy
        self.isRetryable = isRetryable
        self.service = service
        self.underlying = underlying
    }

    /// A kind of error by its stable code: those below, `IntegrationError.Kind` and `TransportError.Kind`.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request was not allowed to go to this host.
        public static let hostRefused = Self(rawValue: "hostRefused")
        /// Neither https nor loopback.
        public static let insecureURL = Self(rawValue: "insecureURL")
        /// A redirect that would have carried credentials elsewhere, or one too many.
        public static let redirectRefused = Self(rawValue: "redirectRefused")
        /// The key's deadline passed.
        public static let deadlineExceeded = Self(rawValue: "deadlineExceeded")
        /// The loader or the request was cancelled.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The request was dropped without an answer; an error in the adapter.
        public static let dropped = Self(rawValue: "dropped")
        /// The player made no SPC.
        public static let spcFailed = Self(rawValue: "spcFailed")
        /// The app's credentials closure threw.
        public static let credentialsFailed = Self(rawValue: "credentialsFailed")
        /// The integration's own code threw.
        public static let integrationFailed = Self(rawValue: "integrationFailed")
        /// There is no certificate: none fetched, none bundled.
        public static let certificateMissing = Self(rawValue: "certificateMissing")
        /// A playlist of a preload could not be read.
        public static let playlistUnreadable = Self(rawValue: "playlistUnreadable")
        /// The lease of a key ended, and no renewal had succeeded.
        public static let leaseEnded = Self(rawValue: "leaseEnded")
        /// The player was asked to renew a key and did not come; a code of events.
        public static let playerDidNotRenew = Self(rawValue: "playerDidNotRenew")
        /// The secure session ended before the license was there, or a renewal came without one.
        public static let sessionEnded = Self(rawValue: "sessionEnded")
        /// The license was to be renewed for the session's sake, and the player did not ask for its keys again.
        public static let sessionNotRenewed = Self(rawValue: "sessionNotRenewed")
    }

    /// The steps of a key's way, in order, and those of a secure session.
    public enum Stage: String, Sendable, Hashable, Codable, CaseIterable {
        /// Naming the key.
        case contentIdentifier
        /// Looking up an entitlement or a delivery document.
        case lookup
        /// Getting the application certificate.
        case certificate
        /// Having the player make the SPC.
        case spc
        /// Asking the license service.
        case license
        /// Handing the CKC to the player.
        case answer
        /// Opening the secure session that a license belongs to.
        case setup
        /// Keeping the session alive.
        case heartbeat
        /// Ending the session.
        case teardown
        /// Reading a stream's playlists to preload its keys.
        case playlist
    }
}

extension ContentKeyError {
    static let cancelled = ContentKeyError(
        .cancelled, "The key request was cancelled.", remedy: "Ask again if the key is still wanted.")

    /// The player gave neither an SPC nor an error, as some were seen to do.
    package static let noSPC = ContentKeyError(
        .spcFailed, stage: .spc, "The player gave neither an SPC nor an error.", remedy: "Load the asset anew.",
        isRetryable: true)

    static let sessionEnded = ContentKeyError(
        .sessionEnded, stage: .license, "The secure session of this source has ended.",
        remedy: "Load the source again, so that its keys open a new session.")

    static let sessionWithoutPlayer = ContentKeyError(
        .sessionNotRenewed, stage: .heartbeat,
        "The session lives by license renewals, and no player can make one.",
        remedy: "Implement renew() in the player's key request.")

    static func sessionNotRenewed(within limit: Duration) -> ContentKeyError {
        ContentKeyError(
            .sessionNotRenewed, stage: .heartbeat,
            "The player did not ask for its keys again within \(limit.inMilliseconds) ms.",
            remedy: "Have the renew closure renew the player's key requests.")
    }

    static func credentialsMissing(_ limit: Duration) -> ContentKeyError {
        ContentKeyError(
            .credentialsFailed, "The app gave no credentials within \(limit.inMilliseconds) ms.",
            remedy: "Return from the credentials closure in time.", isRetryable: true)
    }

    /// Whether new credentials may help.
    var wantsNewCredentials: Bool {
        [IntegrationError.Kind.unauthenticated, .forbidden].contains { $0.rawValue == code } && service != nil
    }

    /// Any error as one of this type; of an error that is no `DiagnosableError`, whose texts may hold secrets, only the type.
    init(_ error: any Error, stage: Stage? = nil, otherwise kind: Kind) {
        switch error {
        case var error as ContentKeyError:
            error.stage = error.stage ?? stage
            self = error
        case let error as IntegrationError:
            self.init(
                Kind(rawValue: error.code), stage: stage, error.reason, remedy: error.remedy,
                isRetryable: error.isRetryable, service: error.service)
        case let error as TransportError:
            self.init(
                Kind(rawValue: error.code), stage: stage, error.reason, remedy: error.remedy,
                isRetryable: error.isRetryable)
        case is CancellationError:
            self = .cancelled
            self.stage = stage
        case let error as any DiagnosableError:
            self.init(
                kind, stage: stage, "\(kind.whatFailed): \(error.reason)", remedy: error.remedy, underlying: error)
        default:
            self.init(kind, stage: stage, kind.reason(error), remedy: kind.remedy, underlying: error)
        }
    }

    static func deadlineExceeded(
        _ deadline: Duration, stage: Stage, after failure: String?
    ) -> ContentKeyError {
        let cause = failure.map { "; the last attempt failed with \($0)" } ?? ""
        return ContentKeyError(
            .deadlineExceeded, stage: stage, "There was no answer within \(deadline.inMilliseconds) ms\(cause).",
            remedy: "Look at the events for the stage that took the time.", isRetryable: true)
    }

    /// The error with every occurrence of a secret in its texts replaced.
    func scrubbed(of forms: SecretForms) -> Self {
        var error = self
        error.reason = forms.scrubbed(reason)
        error.service?.message = service?.message.map(forms.scrubbed)
        error.service?.code = service?.code.map(forms.scrubbed)
        error.service?.requestID = service?.requestID.map(forms.scrubbed)
        return error
    }
}

extension ContentKeyError: CustomReflectable {
    /// Shows the type of the underlying error only, so that `dump` shows no more than the description.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "underlying": underlying.map { "\(type(of: $0))" } as Any])
    }
}

extension ContentKeyError.Kind {
    fileprivate func reason(_ error: any Error) -> String {
        self == .integrationFailed ? "\(whatFailed) \(type(of: error))." : "\(whatFailed) (\(type(of: error)))."
    }

    fileprivate var whatFailed: String {
        switch self {
        case .spcFailed: "The player made no SPC"
        case .credentialsFailed: "The app gave no credentials"
        case .playlistUnreadable: "The playlist could not be read"
        default: "The integration's code threw"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .spcFailed: "Check the application certificate and the content identifier."
        case .credentialsFailed: "Look at the underlying error of the credentials closure."
        default: "Look at the underlying error."
        }
    }
}
