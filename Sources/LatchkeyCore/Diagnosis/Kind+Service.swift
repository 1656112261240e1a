extension Diagnosis.Kind {
    /// What a service says, or an integration makes of it: 200 to 299.
    static let service: [Self] = [
        .unknownIntegration, .missingSetting, .missingCredential, .contentIdentifierMissing, .invalidURL,
        .certificateMalformed, .lookupMalformed, .licenseMalformed, .sessionMalformed, .unauthenticated, .forbidden,
        .notFound, .invalidRequest, .concurrencyLimit, .regionDenied, .rateLimited, .serverTransient,
        .serverPermanent, .redirected, .notYetValid,
    ]

    /// The registry has no integration of this name.
    public static let unknownIntegration = Self(
        200, "unknownIntegration", "Nobody registered an integration of this name.",
        "Choose a registered integration.")
    /// A rule of the profile reads it.
    public static let missingSetting = Self(
        201, "missingSetting", "A setting that the profile needs was not given.",
        "Give the integration the setting.")
    /// A rule of the profile reads it.
    public static let missingCredential = Self(
        202, "missingCredential", "The app gave no credential, or an empty one.",
        "Return a credential from the loader's credentials closure.")
    /// The profile's content-id rule finds nothing.
    public static let contentIdentifierMissing = Self(
        203, "contentIdentifierMissing",
        "The key URI has nothing at the place where the profile looks for the identifier.",
        "Choose the profile variant whose content-id rule fits the key URIs of the playlist.")
    /// A setting, a token or a lookup led to it.
    public static let invalidURL = Self(
        204, "invalidURL", "A rule made something that is no http or https URL.",
        "Correct the URL in the integration's settings.")
    /// PEM, base64, a web page, or nothing.
    public static let certificateMalformed = Self(
        205, "certificateMalformed", "What came as certificate is none.",
        "Point the certificate URL at the DER file of the FairPlay application certificate.", isRetryable: true)
    /// The entitlement or delivery service answered something else.
    public static let lookupMalformed = Self(
        206, "lookupMalformed", "The reply to the lookup lacks what the license request needs.",
        "Compare the reply with what the entitlement or delivery service is said to answer.", isRetryable: true)
    /// The reply's status says yes, and its body is something else.
    public static let licenseMalformed = Self(
        207, "licenseMalformed", "The reply holds no CKC where the profile says that it does.",
        "Compare the reply with the vendor's documentation and choose the profile variant that fits.", isRetryable: true
    )
    /// The session's setup was answered with something else.
    public static let sessionMalformed = Self(
        208, "sessionMalformed", "The reply to a session's setup lacks the session's token or period.",
        "Check that the session URL is that of the vendor's session management.")
    /// 401: the sign-in or the token has expired. Have the viewer sign in, or fetch a new token.
    public static let unauthenticated = Self(
        209, "unauthenticated", "The service does not know the caller.",
        "Give a fresh token that was made for this content.")
    /// 403: the account does not include the content.
    public static let forbidden = Self(
        210, "forbidden", "The service knows the caller and refuses.",
        "Ask the vendor, with the request id, why this token may not play this content.")
    /// 404 and 410.
    public static let notFound = Self(
        211, "notFound", "The service knows no such key, certificate or address.",
        "Check the URL, and that the content's key exists at the vendor.")
    /// 400 and every 4xx without a kind of its own.
    public static let invalidRequest = Self(
        212, "invalidRequest", "The service could not read the request.",
        "Compare the request with the vendor's documentation.")
    /// Have the viewer stop another stream.
    public static let concurrencyLimit = Self(
        213, "concurrencyLimit", "The account plays too many streams at once.",
        "Stop another stream of this account and try again.")
    /// 451, or the vendor's own code.
    public static let regionDenied = Self(
        214, "regionDenied", "The content is not available in this region.",
        "Tell the viewer that the content is not available here.")
    /// 429; `ServiceReply.retryAfter` says how long to wait.
    public static let rateLimited = Self(
        215, "rateLimited", "The service limits requests.",
        "Wait and try again.", isRetryable: true)
    /// 408, 425 and every 5xx without a kind of its own.
    public static let serverTransient = Self(
        216, "serverTransient", "The service is unwell and may recover.",
        "Try again later; if it lasts, report the request id to the vendor.", isRetryable: true)
    /// 501 and 505.
    public static let serverPermanent = Self(
        217, "serverPermanent", "The service is unwell and will stay so.",
        "Report the request id to the vendor.")
    /// 3xx without a location that may be followed.
    public static let redirected = Self(
        218, "redirected", "The service redirects to where no request can follow.",
        "Configure the URL that the service redirects to.")
    /// The token, or the service's reply, names a time that has not come.
    public static let notYetValid = Self(
        219, "notYetValid", "The time of the token or of the content has not begun.",
        "Try again when the time of the token or the content has begun, and check the device's date.")
}
