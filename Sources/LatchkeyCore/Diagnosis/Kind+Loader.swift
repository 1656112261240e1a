extension Diagnosis.Kind {
    /// Errors of the loader, and of the app's and the player's code: 100 to 199.
    static let loader: [Self] = [
        .hostRefused, .insecureURL, .redirectRefused, .deadlineExceeded, .cancelled, .dropped, .spcFailed,
        .credentialsFailed, .integrationFailed, .certificateMissing, .leaseEnded, .playerDidNotRenew, .sessionEnded,
        .sessionNotRenewed,
    ]

    /// A request was meant for a host that is neither in the vendor's settings nor in `HostPolicy.allowed`.
    ///
    /// - Status: none; nothing was sent.
    /// - App: configures the license service's address as its vendor states it; a host that only a playlist names is not trusted.
    public static let hostRefused = Self(
        100, "hostRefused", "The request was not allowed to go to this host.",
        "Configure the address that the vendor gave you, or name its host in the loader's HostPolicy.")
    /// A request was meant for a scheme other than https, to a host that is not loopback.
    ///
    /// - Status: none; nothing was sent.
    /// - App: corrects the address in the settings or the playlist; nothing it does while playing helps.
    public static let insecureURL = Self(
        101, "insecureURL", "The URL is not https and not on loopback.",
        "Use an https URL.")
    /// The service redirected to another origin, to which credentials may not be sent, or more often than
    /// `LoaderConfiguration.redirectLimit`.
    ///
    /// - Status: 301, 302, 303, 307 or 308.
    /// - App: configures the address that the service redirects to, if it is the vendor's.
    public static let redirectRefused = Self(
        102, "redirectRefused",
        "A redirect would have sent credentials to another host, or exceeded the redirect limit.",
        "Configure the URL that the service redirects to, if it is the vendor's.")
    /// All steps of a key together took longer than `RetryPolicy.deadline`, whichever step took the time; `timedOut` is for a single
    /// exchange.
    ///
    /// - Status: any or none: the reason names the stage, and the last failure.
    /// - App: says that the service cannot be reached, and retries when the viewer asks.
    public static let deadlineExceeded = Self(
        103, "deadlineExceeded", "The key's deadline passed.",
        "Check the events for the stage that took too long.", isRetryable: true)
    /// The app or the player ended the request, so the key is no longer wanted.
    ///
    /// - Status: none; a later reply is not read.
    /// - App: shows the viewer nothing: `viewerMessage` is `nil`.
    public static let cancelled = Self(
        104, "cancelled", "The loader or the request was cancelled.",
        "Request the key again if it is still needed.")
    /// An adapter dropped the request without an answer, which is an error in Latchkey.
    ///
    /// - Status: none; earlier requests do not matter.
    /// - App: starts the title again, and reports the error.
    public static let dropped = Self(
        105, "dropped", "The request was dropped without an answer.",
        "Report this as a bug in Latchkey.")
    /// The player threw an error instead of making the SPC, or returned none, or an empty one.
    ///
    /// - Status: none; only the certificate was requested.
    /// - App: starts the title again, and checks `underlying`: a certificate of another account is the usual cause.
    public static let spcFailed = Self(
        106, "spcFailed", "The player made no SPC.",
        "Check the application certificate and the content identifier.")
    /// The app's credentials closure threw, or did not return in time.
    ///
    /// - Status: none; nothing was sent.
    /// - App: checks `underlying`, which is its own error, and asks the viewer to sign in if a sign-in has ended.
    public static let credentialsFailed = Self(
        107, "credentialsFailed", "The app gave no credentials.",
        "Check the underlying error of the credentials closure.")
    /// An integration in code, or a callback of the app, threw an error of an unknown kind.
    ///
    /// - Status: any or none: the integration's code ran before a request or on its reply.
    /// - App: checks `underlying`, which is its own error.
    public static let integrationFailed = Self(
        108, "integrationFailed", "The integration's own code failed.",
        "Look at the underlying error.")
    /// There is no application certificate: no address to fetch it from is set, and none is bundled.
    ///
    /// - Status: none; nothing was sent.
    /// - App: sets the certificate's address, or bundles the certificate.
    public static let certificateMissing = Self(
        109, "certificateMissing", "There is no application certificate.",
        "Set a certificate URL, or bundle the certificate.")
    /// The lease of a playing key ended, because no renewal had come by then.
    ///
    /// - Status: any or none: the reason names the last renewal's failure.
    /// - App: starts the title again; the events say why no renewal came.
    public static let leaseEnded = Self(
        110, "leaseEnded", "The lease of the key ended.",
        "Check the events for the reason that no renewal succeeded.")
    /// The player was asked to renew a key, and did not request it again.
    ///
    /// - Status: none; nothing was sent.
    /// - App: does nothing while the key lives: it is a code of events, and the loader asks the player again.
    public static let playerDidNotRenew = Self(
        111, "playerDidNotRenew", "The player was asked to renew a key and did not ask for it again.",
        "Make the player request its keys again when the adapter asks for it.")
    /// The vendor's secure session ended before the license came, or a renewal came without a session.
    ///
    /// - Status: none; the service had said before that the session is over.
    /// - App: loads the source again, so that its keys open a new session.
    public static let sessionEnded = Self(
        112, "sessionEnded", "The secure session ended.",
        "Load the source again, so that its keys open a new session.")
    /// A session kept alive by license renewals ended, because the player requested none.
    ///
    /// - Status: none; nothing was sent.
    /// - App: makes its session's renew closure renew the player's requests, and starts the title again.
    public static let sessionNotRenewed = Self(
        113, "sessionNotRenewed", "The player did not ask for its keys again, and the session ended.",
        "Renew the player's key requests in the renew closure.")
}
