extension Diagnosis.Kind {
    /// Errors of services and integrations: 200 to 299.
    static let service: [Self] = [
        .unknownIntegration, .missingSetting, .missingCredential, .contentIdentifierMissing, .invalidURL,
        .certificateMalformed, .lookupMalformed, .licenseMalformed, .sessionMalformed, .unauthenticated, .forbidden,
        .notFound, .invalidRequest, .concurrencyLimit, .regionDenied, .rateLimited, .serverTransient,
        .serverPermanent, .redirected, .notYetValid,
    ]

    /// An integration was requested by a name that is not registered.
    ///
    /// - Status: none; nothing was sent.
    /// - App: registers the integration before it makes the loader, or corrects the name.
    public static let unknownIntegration = Self(
        200, "unknownIntegration", "No integration with this name is registered.",
        "Choose a registered integration.")
    /// The profile's rules read a setting that the app did not provide.
    ///
    /// - Status: none; nothing was sent.
    /// - App: provides the setting that the reason names; nothing it does during playback helps.
    public static let missingSetting = Self(
        201, "missingSetting", "A required setting of the profile is missing.",
        "Add the setting to the integration.")
    /// The profile's rules read a credential, but the app's closure returned none with that name, or an empty one.
    ///
    /// - Status: none; nothing was sent.
    /// - App: asks the viewer to sign in, and returns the credential that the reason names.
    public static let missingCredential = Self(
        202, "missingCredential", "The app gave no credential, or an empty one.",
        "Return a credential from the loader's credentials closure.")
    /// The key URI has nothing at the place where the profile looks for the content identifier.
    ///
    /// - Status: none; nothing was sent.
    /// - App: chooses the variant of the profile that matches the playlist's key URIs.
    public static let contentIdentifierMissing = Self(
        203, "contentIdentifierMissing",
        "The key URI has no identifier where the profile expects it.",
        "Choose the profile variant whose content-id rule fits the key URIs of the playlist.")
    /// The profile's rules made an address that is not an http or https URL, from a setting, a token or a looked-up value.
    ///
    /// - Status: none; nothing was sent.
    /// - App: corrects the setting, or the value in the token.
    public static let invalidURL = Self(
        204, "invalidURL", "A rule produced a value that is not an http or https URL.",
        "Correct the URL in the integration's settings.")
    /// The reply to the certificate's request is not a certificate: PEM or base64 where DER is wanted, a web page, or nothing.
    ///
    /// - Status: 200; the body is the fault.
    /// - App: points the certificate's address at the DER file of the FairPlay application certificate.
    public static let certificateMalformed = Self(
        205, "certificateMalformed", "The reply is not a certificate.",
        "Point the certificate URL at the DER file of the FairPlay application certificate.", isRetryable: true)
    /// The entitlement or delivery service answered, but its reply lacks a value that the license request needs.
    ///
    /// - Status: a status of success, as the profile has them; the body is the fault.
    /// - App: tries again later, and shows the vendor the reply.
    public static let lookupMalformed = Self(
        206, "lookupMalformed", "The reply to the lookup lacks data for the license request.",
        "Compare the reply with the documentation of the entitlement or delivery service.", isRetryable: true)
    /// The license service reported success, but its reply holds no CKC where the profile expects it.
    ///
    /// - Status: a status of success, as the profile has them; the body is the fault.
    /// - App: tries again later; if it persists, another variant of the profile matches the service.
    public static let licenseMalformed = Self(
        207, "licenseMalformed", "The reply has no CKC where the profile expects it.",
        "Compare the reply with the vendor's documentation and choose the profile variant that fits.", isRetryable: true
    )
    /// The reply to the setup of a secure session lacks the session's token or its period.
    ///
    /// - Status: a status of success, as the profile has them; the body is the fault.
    /// - App: corrects the session's address; nothing it does during playback helps.
    public static let sessionMalformed = Self(
        208, "sessionMalformed", "The reply to a session's setup lacks the session's token or period.",
        "Check that the session URL points to the vendor's session management.")
    /// The service does not know the caller: the token is missing, malformed, expired, or made for other content.
    ///
    /// - Status: 401, and codes that the profile lists.
    /// - App: asks the viewer to sign in, or fetches a new token. The loader has already called the credentials closure once more.
    public static let unauthenticated = Self(
        209, "unauthenticated", "The service does not know the caller.",
        "Use a new token for this content.")
    /// The service knows the caller but refuses: the account does not include the content, or the device may not play it.
    ///
    /// - Status: 403, codes that the profile lists, and a status of success with an unlisted code.
    /// - App: says that the account does not include the title; asking again does not help.
    public static let forbidden = Self(
        210, "forbidden", "The service knows the caller and refuses.",
        "Ask the vendor why this token may not play this content, with the request id if the service gave one.")
    /// The service does not have this key, certificate or address.
    ///
    /// - Status: 404 and 410, and codes that the profile lists.
    /// - App: checks the address and the content's key at the vendor; asking again does not help.
    public static let notFound = Self(
        211, "notFound", "The service does not have this key, certificate or address.",
        "Check the URL, and that the content's key exists at the vendor.")
    /// The service could not read the request, or does not accept its form.
    ///
    /// - Status: 400, every 4xx without a specific kind, and codes that the profile lists.
    /// - App: compares the request with the vendor's documentation; asking again does not help.
    public static let invalidRequest = Self(
        212, "invalidRequest", "The service could not read the request.",
        "Compare the request with the vendor's documentation.")
    /// The account has reached its limit of concurrent streams.
    ///
    /// - Status: any, by codes that the profile lists.
    /// - App: asks the viewer to stop another stream, and then tries again.
    public static let concurrencyLimit = Self(
        213, "concurrencyLimit", "The account has too many concurrent streams.",
        "Stop another stream of this account and try again.")
    /// The content is not available in the viewer's region, as the service sees it.
    ///
    /// - Status: 451, and codes that the profile lists.
    /// - App: says that the title is not available here; asking again does not help.
    public static let regionDenied = Self(
        214, "regionDenied", "The content is not available in this region.",
        "Tell the viewer that the content is not available here.")
    /// The service accepts no more requests for now. `ServiceReply.retryAfter` says how long to wait, if the service did.
    ///
    /// - Status: 429, and codes that the profile lists.
    /// - App: waits, and tries again; the loader has done so within its deadline.
    public static let rateLimited = Self(
        215, "rateLimited", "The service limits requests.",
        "Wait and try again.", isRetryable: true)
    /// The service failed in a way that usually passes.
    ///
    /// - Status: 408, 425, every 5xx without a specific kind, and codes that the profile lists.
    /// - App: tries again in some minutes; if it persists, reports the request ID to the vendor.
    public static let serverTransient = Self(
        216, "serverTransient", "The service has a temporary failure.",
        "Try again later; if it lasts, report it to the vendor, with the request id if the service gave one.",
        isRetryable: true)
    /// The service failed in a way that does not pass without a change.
    ///
    /// - Status: 501 and 505, and codes that the profile lists.
    /// - App: reports the request id to the vendor; asking again does not help.
    public static let serverPermanent = Self(
        217, "serverPermanent", "The service has a permanent failure.",
        "Report it to the vendor, with the request id if the service gave one.")
    /// The service redirects without saying where to, or to an address that no request can follow.
    ///
    /// - Status: every 3xx without a usable location.
    /// - App: configures the address that the service redirects to.
    public static let redirected = Self(
        218, "redirected", "The service redirects to an address that the client must not follow.",
        "Configure the URL that the service redirects to.")
    /// The token or the content is not valid yet, or the device's date is wrong.
    ///
    /// - Status: any, by codes that the profile lists; none if the token itself says so.
    /// - App: asks the viewer to check the device's date, or says when the title becomes available.
    public static let notYetValid = Self(
        219, "notYetValid", "The token or the content is not valid yet.",
        "Try again when the time of the token or the content has begun, and check the device's date.")
}
