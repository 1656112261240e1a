import Foundation
public import LatchkeyCore
@_spi(Integrations) public import LatchkeyVendors

/// Why a key request got no key: the error, its stage, the service's reply, whether a retry can help, and the remedy.
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
    /// The service's reply, if it was asked.
    public internal(set) var service: ServiceReply?
    /// The number of attempts, including the one with new credentials.
    public internal(set) var attempts = 1
    /// Whether this answers a repeated request of a player: the service refused a moment ago, and was not asked again.
    public internal(set) var isRepeated = false
    /// The app's or the player's own error. Not part of the description, as it may hold a secret.
    public let underlying: (any Error)?
    /// Whether new credentials may help, according to the vendor's page about the service's code; `nil` if it does not say.
    private var documentedNewCredentials: Bool?

    /// Makes an error.
    /// - Parameters:
    ///   - kind: the kind of error.
    ///   - stage: the stage at which it happened; `nil` before any.
    ///   - reason: what happened, without secrets.
    ///   - remedy: what to do, one imperative sentence. Defaults to the kind's.
    ///   - isRetryable: whether the same request may succeed later.
    ///   - service: the service's reply; `nil` if it was not asked.
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

    /// The steps of a key's way, in order, and the steps of a secure session.
    public enum Stage: String, Sendable, Hashable, Codable, CaseIterable {
        /// Naming the key.
        case contentIdentifier
        /// Looking up an entitlement or a delivery document.
        case lookup
        /// Getting the application certificate.
        case certificate
        /// Making the SPC in the player.
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

        /// Remedies for an address that is not found and does not depend on the content.
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

    /// The player returned neither an SPC nor an error, as some have been seen to do.
    package static let noSPC = ContentKeyError(
        .spcFailed, stage: .spc, "The player gave neither an SPC nor an error.", remedy: "Load the asset again.",
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

    /// Whether the app is notified: not of a cancelled request, and only once of the same refusal.
    @_spi(Adapters) public var isReportable: Bool { kind != .cancelled && !isRepeated }

    /// Whether new credentials may help.
    var wantsNewCredentials: Bool { (documentedNewCredentials ?? kind.wantsNewCredentials) && service != nil }

    /// Whether the remedy is the vendor's, for the service's own code.
    package var isDocumented: Bool { documentedNewCredentials != nil }

    /// Converts the error to one of a key request.
    package init(_ error: any CataloguedError, stage: Stage?, underlying: (any Error)? = nil) {
        let isCommon = error.kind == .notFound && error.remedy == error.kind.remedy
        self.init(
            error.kind, stage: stage, error.reason, remedy: (isCommon ? stage?.addressRemedy : nil) ?? error.remedy,
            isRetryable: error.isRetryable,
            service: (error as? IntegrationError)?.service, underlying: underlying)
        documentedNewCredentials = (error as? IntegrationError)?.documented?.wantsNewCredentials
    }

    /// Converts any error to this type; of an error that is not a `DiagnosableError`, whose texts may hold secrets, keeps only the type.
    init(_ error: any Error, stage: Stage? = nil, otherwise kind: Kind) {
        switch error {
        case var error as ContentKeyError:
            error.stage = error.stage ?? stage
            self = error
        // A diagnosis with its own code is not a kind of key request error.
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

    /// The beginning of a sentence that continues with the thrown error.
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
