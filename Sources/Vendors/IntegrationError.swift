public import LatchkeyCore

/// Why an integration could not make a request or accept a reply.
public struct IntegrationError: DiagnosableError {
    /// The kinds of error; raw values are the stable codes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Nobody registered an integration of this name.
        case unknownIntegration
        /// A setting that the profile needs was not given.
        case missingSetting
        /// The app gave no credential, or an empty one.
        case missingCredential
        /// The key URI has nothing at the place where the profile looks for the identifier.
        case contentIdentifierMissing
        /// A rule made something that is no http or https URL.
        case invalidURL
        /// What came as certificate is none.
        case certificateMalformed
        /// The reply to the lookup lacks what the license request needs.
        case lookupMalformed
        /// The reply holds no CKC where the profile says that it does.
        case licenseMalformed
        /// The reply to a session's setup lacks the session's token or period.
        case sessionMalformed
        /// The service does not know the caller: 401.
        case unauthenticated
        /// The service knows the caller and refuses: 403.
        case forbidden
        /// The service knows no such key, certificate or address: 404.
        case notFound
        /// The service could not read the request: 400 and other 4xx.
        case invalidRequest
        /// Too many streams at once.
        case concurrencyLimit
        /// Not in this region.
        case regionDenied
        /// Too many requests: 429.
        case rateLimited
        /// The service is unwell and may recover: 408, 425, 5xx.
        case serverTransient
        /// The service is unwell and will stay so: 501, 505.
        case serverPermanent
        /// A redirect that cannot be followed.
        case redirected
    }

    /// The kind of error.
    public let kind: Kind
    public let reason: String
    public let remedy: String
    /// What the service said, where it was asked.
    public let service: ServiceReply?

    public var code: String { kind.rawValue }

    /// Whether the same request may succeed later.
    public var isRetryable: Bool {
        [.serverTransient, .rateLimited, .licenseMalformed, .certificateMalformed, .lookupMalformed].contains(kind)
            && service != nil
    }

    /// Makes an error; the remedy is the kind's unless given.
    public init(_ kind: Kind, _ reason: String, remedy: String? = nil, service: ServiceReply? = nil) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy ?? kind.remedy
        self.service = service
    }

    /// The error with what the service said.
    public func with(_ service: ServiceReply?) -> Self { Self(kind, reason, remedy: remedy, service: service) }

    static func certificateMalformed(_ reason: String) -> Self { Self(.certificateMalformed, reason) }
    static func licenseMalformed(_ reason: String) -> Self { Self(.licenseMalformed, reason) }
}

/// The part of a service's reply that helps to find its cause.
public struct ServiceReply: Sendable, Hashable, Codable {
    /// The HTTP status.
    public var status: Int
    /// The vendor's own error code.
    public var code: String?
    /// The vendor's own words, shortened.
    public var message: String?
    /// The id under which the vendor's support finds the request.
    public var requestID: String?
    /// How long the service asks to wait, in seconds.
    public var retryAfter: Double?

    /// Makes a summary of a reply.
    public init(
        status: Int, code: String? = nil, message: String? = nil, requestID: String? = nil, retryAfter: Double? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.requestID = requestID
        self.retryAfter = retryAfter
    }
}

extension IntegrationError.Kind {
    /// What the app, or whoever runs the service, should do first.
    var remedy: String {
        switch self {
        case .unknownIntegration: "Choose a registered integration."
        case .missingSetting: "Give the integration the setting."
        case .missingCredential: "Return a credential from the loader's credentials closure."
        case .contentIdentifierMissing:
            "Choose the profile variant whose content-id rule fits the key URIs of the playlist."
        case .invalidURL: "Correct the URL in the integration's settings."
        case .certificateMalformed: "Point the certificate URL at the DER file of the FairPlay application certificate."
        case .lookupMalformed: "Compare the reply with what the entitlement or delivery service is said to answer."
        case .licenseMalformed:
            "Compare the reply with the vendor's documentation and choose the profile variant that fits."
        case .sessionMalformed: "Check that the session URL is that of the vendor's session management."
        case .unauthenticated: "Give a fresh token that was made for this content."
        case .forbidden: "Ask the vendor, with the request id, why this token may not play this content."
        case .notFound: "Check the URL, and that the content's key exists at the vendor."
        case .invalidRequest: "Compare the request with the vendor's documentation."
        case .concurrencyLimit: "Stop another stream of this account and try again."
        case .regionDenied: "Tell the viewer that the content is not available here."
        case .rateLimited: "Wait and try again."
        case .serverTransient: "Try again later; if it lasts, report the request id to the vendor."
        case .serverPermanent: "Report the request id to the vendor."
        case .redirected: "Configure the URL that the service redirects to."
        }
    }
}
