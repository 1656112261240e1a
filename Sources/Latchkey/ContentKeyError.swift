import Foundation
public import LatchkeyCore
@_spi(Integrations) public import LatchkeyVendors

/// Why a key request got no key: what happened, at which stage, what the service said, whether a retry can help, what to do.
///
///     if error.kind == .unauthenticated { signIn() } else { show(error.viewerMessage) }
public struct ContentKeyError: CataloguedError {
    /// The kind of error, such as `.unauthenticated`, `.forbidden`, `.regionDenied`, `.rateLimited`, `.notYetValid`, `.offline`.
    public typealias Kind = Diagnosis.Kind

    /// The kind of error.
    public let kind: Kind
    /// The stage at which it happened; `nil` before any.
    public internal(set) var stage: Stage?
    public internal(set) var reason: String
    public let remedy: String
    /// Whether the same request may succeed later.
    public let isRetryable: Bool
    /// What the service said, where it was asked.
    public internal(set) var service: ServiceReply?
    /// How many attempts were made, the one with new credentials included.
    public internal(set) var attempts = 1
    /// Whether this answers a player that asked again: the service refused a moment ago, and was not asked another time.
    public internal(set) var isRepeated = false
    /// The app's or the player's own error. Not part of the description, as it may hold a secret.
    public let underlying: (any Error)?
    /// Whether new credentials may help, where the vendor's page says so of the service's code; `nil` where it says nothing.
    private var documentedNewCredentials: Bool?

    /// Makes an error.
    /// - Parameters:
    ///   - kind: the kind of error.
    ///   - stage: the stage at which it happened; `nil` before any.
    ///   - reason: what happened, without secrets.
    ///   - remedy: what to do, one imperative sentence. Defaults to the kind's.
    ///   - isRetryable: whether the same request may succeed later.
    ///   - service: what the service said; `nil` if it was not asked.
    ///   - underlying: the app's or the player's own error.
    public init(
        _ kind: Kind, stage: Stage? = nil, _ reason: String, remedy: String? = nil, isRetryable: Bool = false,
        service: ServiceReply? = nil, underlying: (any Error)? = nil
    ) {
        self.kind = kind
        self.stage = stage
        self.reason = reason
        self.remedy = remedy ?? kind.remedy
        self.isRetryable = isRetryable
        self.service = service
        self.underlying = underlying
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

        /// What to check where an address is not found that no content's key is behind.
        fileprivate var addressRemedy: String? {
            switch self {
            case .lookup: "Check the URL of the entitlement or delivery service."
            case .setup, .heartbeat, .teardown: "Check the URL of the session service."
            default: nil
            }
        }
    }
}

extension ContentKeyError: DetailedError {
    package var details: ErrorDetails {
        var details = ErrorDetails()
        (details.stage, details.isRetryable, details.attempts) = (stage?.rawValue, isRetryable, attempts)
        details.add(service)
        return details
    }
}

extension ContentKeyError {
    package static let cancelled = ContentKeyError(
        .cancelled, "The key request was cancelled.")

    /// The player gave neither an SPC nor an error, as some were seen to do.
    package static let noSPC = ContentKeyError(
        .spcFailed, stage: .spc, "The player gave neither an SPC nor an error.", remedy: "Load the asset anew.",
        isRetryable: true)

    static let sessionEnded = ContentKeyError(
        .sessionEnded, stage: .license, "The secure session of this source has ended.")

    static let sessionWithoutPlayer = ContentKeyError(
        .sessionNotRenewed, stage: .heartbeat,
        "The session lives by license renewals, and no player can make one.",
        remedy: "Implement renew() in the player's key request.")

    static func sessionNotRenewed(within limit: Duration) -> ContentKeyError {
        ContentKeyError(
            .sessionNotRenewed, stage: .heartbeat,
            "The player did not ask for its keys again within \(limit.inWords).")
    }

    static func credentialsMissing(_ limit: Duration) -> ContentKeyError {
        ContentKeyError(
            .credentialsFailed, "The app gave no credentials within \(limit.inWords).",
            remedy: "Return from the credentials closure in time.", isRetryable: true)
    }

    /// Whether an app is told: not if the request was cancelled, and not twice of one refusal.
    @_spi(Adapters) public var isReportable: Bool { kind != .cancelled && !isRepeated }

    /// Whether new credentials may help.
    var wantsNewCredentials: Bool { (documentedNewCredentials ?? kind.wantsNewCredentials) && service != nil }

    /// Whether the remedy is one for the service's own code, as the vendor's page has it.
    package var isDocumented: Bool { documentedNewCredentials != nil }

    /// Makes the same error as one of a key request.
    package init(_ error: any CataloguedError, stage: Stage?, underlying: (any Error)? = nil) {
        let isCommon = error.kind == .notFound && error.remedy == error.kind.remedy
        self.init(
            error.kind, stage: stage, error.reason, remedy: (isCommon ? stage?.addressRemedy : nil) ?? error.remedy,
            isRetryable: error.isRetryable,
            service: (error as? IntegrationError)?.service, underlying: underlying)
        documentedNewCredentials = (error as? IntegrationError)?.documented?.wantsNewCredentials
    }

    /// Any error as one of this type; of an error that is no `DiagnosableError`, whose texts may hold secrets, only the type.
    init(_ error: any Error, stage: Stage? = nil, otherwise kind: Kind) {
        switch error {
        case var error as ContentKeyError:
            error.stage = error.stage ?? stage
            self = error
        // A diagnosis with a code of its own is no kind of a key request's.
        case let error as any CataloguedError where error.kind.number > 1 || !(error is Diagnosis):
            self.init(error, stage: stage)
        case is CancellationError:
            self = .cancelled
            self.stage = stage
        case let error as any DiagnosableError:
            self.init(
                kind, stage: stage, "\(kind.whatFailed): \(error.reason)", remedy: error.remedy, underlying: error)
        default:
            self.init(kind, stage: stage, kind.reason(error), underlying: error)
        }
    }

    static func deadlineExceeded(
        _ deadline: Duration, stage: Stage, after failure: String?, attempts: Int
    ) -> ContentKeyError {
        let cause = failure.map { "; the last attempt failed with \($0)" } ?? ""
        var error = ContentKeyError(
            .deadlineExceeded, stage: stage, "There was no answer within \(deadline.inWords)\(cause).",
            isRetryable: true)
        error.attempts = attempts
        return error
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

    /// The beginning of a sentence that goes on with what was thrown.
    fileprivate var whatFailed: String {
        switch self {
        case .spcFailed: "The player made no SPC"
        case .credentialsFailed: "The app gave no credentials"
        case .playlistUnreadable: "The playlist could not be read"
        case .downloadFailed: "The title was not stored"
        case .persistableKeyFailed: "The system gave no proof"
        default: "The integration's code threw"
        }
    }
}
