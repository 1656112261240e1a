extension Diagnosis.Kind {
    /// What the loader decides, and what the app's and the player's code does: 100 to 199.
    static let loader: [Self] = [
        .hostRefused, .insecureURL, .redirectRefused, .deadlineExceeded, .cancelled, .dropped, .spcFailed,
        .credentialsFailed, .integrationFailed, .certificateMissing, .leaseEnded, .playerDidNotRenew, .sessionEnded,
        .sessionNotRenewed,
    ]

    /// A request was to go to a host that is neither in the vendor's settings nor in `HostPolicy.allowed`.
    ///
    /// - Status: none; nothing was sent.
    /// - App: configures the license service's address as its vendor gives it; a host that a playlist alone names stays a
    ///   stranger's.
    public static let hostRefused = Self(
        100, "hostRefused", "The request was not allowed to go to this host.",
        "Configure the address that the vendor gave you, or name its host in the loader's HostPolicy.")
    /// A request was to go over a scheme other than https, to a host that is not loopback.
    ///
    /// - Status: none; nothing was sent.
    /// - App: corrects the address in the settings or the playlist; nothing it does while playing helps.
    public static let insecureURL = Self(
        101, "insecureURL", "The URL is not https and not on loopback.",
        "Use an https URL.")
    /// The service redirected to another origin, to which credentials may not go, or more often than
    /// `LoaderConfiguration.redirectLimit`.
    ///
    /// - Status: 301, 302, 303, 307 or 308.
    /// - App: configures the address that the service redirects to, if it is the vendor's.
    public static let redirectRefused = Self(
        102, "redirectRefused",
        "A redirect would have sent credentials to another host, or exceeded the redirect limit.",
        "Configure the URL that the service redirects to, if it is the vendor's.")
    /// The whole way of a key took longer than `RetryPolicy.deadline`, whichever step took the time; `timedOut` is
    /// one exchange's.
    ///
    /// - Status: any or none: the reason names the stage, and the last failure.
    /// - App: says that the service cannot be reached, and asks again when the viewer does.
    public static let deadlineExceeded = Self(
        103, "deadlineExceeded", "The key's deadline passed.",
        "Check the events for the stage that took too long.", isRetryable: true)
    /// The app or the player ended the request, so that nobody waits for the key any more.
    ///
    /// - Status: none; a reply that comes later is not read.
    /// - App: tells the viewer nothing: `viewerMessage` is `nil`.
    public static let cancelled = Self(
        104, "cancelled", "The loader or the request was cancelled.",
        "Request the key again if it is still needed.")
    /// An adapter forgot the request without an answer, which is an error in Latchkey.
    ///
    /// - Status: none; what was sent before does not matter.
    /// - App: starts the title again, and reports the error.
    public static let dropped = Self(
        105, "dropped", "The request was dropped without an answer.",
        "Report this as a bug in Latchkey.")
    /// The player threw where it was to make the SPC, or gave none, or an empty one.
    ///
    /// - Status: none; only the certificate was asked for.
    /// - App: starts the title again, and looks at `underlying`: a certificate of another account is the usual
    ///   cause.
    public static let spcFailed = Self(
        106, "spcFailed", "The player made no SPC.",
        "Check the application certificate and the content identifier.")
    /// The app's credentials closure threw, or did not return in time.
    ///
    /// - Status: none; nothing was sent.
    /// - App: looks at `underlying`, which is its own error, and has the viewer sign in if a sign-in has ended.
    public static let credentialsFailed = Self(
        107, "credentialsFailed", "The app gave no credentials.",
        "Check the underlying error of the credentials closure.")
    /// An integration in code, or a callback of the app, threw an error that says nothing of its kind.
    ///
    /// - Status: any or none: the integration's code ran before a request or on its reply.
    /// - App: looks at `underlying`, which is its own error.
    public static let integrationFailed = Self(
        108, "integrationFailed", "The integration's own code failed.",
        "Look at the underlying error.")
    /// There is no application certificate: no address is set from which it could be fetched, and none is bundled.
    ///
    /// - Status: none; nothing was sent.
    /// - App: sets the certificate's address, or bundles the certificate.
    public static let certificateMissing = Self(
        109, "certificateMissing", "There is no application certificate.",
        "Set a certificate URL, or bundle the certificate.")
    /// The lease of a key that plays ended, because no renewal had come by then.
    ///
    /// - Status: any or none: the reason names what the last renewal failed of.
    /// - App: starts the title again; the events say why no renewal came.
    public static let leaseEnded = Self(
        110, "leaseEnded", "The lease of the key ended.",
        "Check the events for the reason that no renewal succeeded.")
    /// The player was told to renew a key, and did not ask for it again.
    ///
    /// - Status: none; nothing was sent.
    /// - App: does nothing while the key lives: it is a code of events, and the loader tells the player again.
    public static let playerDidNotRenew = Self(
        111, "playerDidNotRenew", "The player was asked to renew a key and did not ask for it again.",
        "Make the player request its keys again when the adapter asks for it.")
    /// The vendor's secure session ended before the license came, or a renewal came when there was no session.
    ///
    /// - Status: none; the service had said before that the session is over.
    /// - App: loads the source again, so that its keys open a new session.
    public static let sessionEnded = Self(
        112, "sessionEnded", "The secure session ended.",
        "Load the source again, so that its keys open a new session.")
    /// A session that lives by license renewals ended, because the player asked for none.
    ///
    /// - Status: none; nothing was sent.
    /// - App: has the renew closure of its session renew the player's requests, and starts the title again.
    public static let sessionNotRenewed = Self(
        113, "sessionNotRenewed", "The player did not ask for its keys again, and the session ended.",
        "Renew the player's key requests in the renew closure.")
}
