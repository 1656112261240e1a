extension Diagnosis.Kind {
    /// What the loader decides, and what the app's and the player's code does: 100 to 199.
    static let loader: [Self] = [
        .hostRefused, .insecureURL, .redirectRefused, .deadlineExceeded, .cancelled, .dropped, .spcFailed,
        .credentialsFailed, .integrationFailed, .certificateMissing, .leaseEnded, .playerDidNotRenew, .sessionEnded,
        .sessionNotRenewed,
    ]

    /// The request's host is neither configured nor in `HostPolicy`.
    public static let hostRefused = Self(
        100, "hostRefused", "The request was not allowed to go to this host.",
        "Allow the host in the loader's HostPolicy if it is your license service's.")
    /// The URL has another scheme than https, and its host is not loopback.
    public static let insecureURL = Self(
        101, "insecureURL", "The URL is neither https nor loopback.",
        "Use an https URL.")
    /// The redirect leads to another origin, or is one too many.
    public static let redirectRefused = Self(
        102, "redirectRefused", "A redirect would have carried credentials elsewhere, or was one too many.",
        "Configure the URL that the service redirects to, if it is the vendor's.")
    /// The deadline of the whole key request; `timedOut` is one exchange's.
    public static let deadlineExceeded = Self(
        103, "deadlineExceeded", "The key's deadline passed.",
        "Look at the events for the stage that took the time.", isRetryable: true)
    /// The app or the player ended the request; there is nothing to tell the viewer.
    public static let cancelled = Self(
        104, "cancelled", "The loader or the request was cancelled.",
        "Ask again if the key is still wanted.")
    /// An error in the adapter.
    public static let dropped = Self(
        105, "dropped", "The request was dropped without an answer.",
        "Report this as an error in Latchkey.")
    /// The player threw, gave nothing, or gave an empty SPC.
    public static let spcFailed = Self(
        106, "spcFailed", "The player made no SPC.",
        "Check the application certificate and the content identifier.")
    /// The credentials closure threw, or did not return in time.
    public static let credentialsFailed = Self(
        107, "credentialsFailed", "The app gave no credentials.",
        "Look at the underlying error of the credentials closure.")
    /// The integration, or a callback of the app, threw an error of its own.
    public static let integrationFailed = Self(
        108, "integrationFailed", "The integration's own code failed.",
        "Look at the underlying error.")
    /// None could be fetched and none is bundled.
    public static let certificateMissing = Self(
        109, "certificateMissing", "There is no application certificate.",
        "Give a certificate URL, or bundle the certificate.")
    /// No renewal succeeded in time.
    public static let leaseEnded = Self(
        110, "leaseEnded", "The lease of the key ended.",
        "Look at the events for why no renewal succeeded.")
    /// A code of events.
    public static let playerDidNotRenew = Self(
        111, "playerDidNotRenew", "The player was asked to renew a key and did not ask for it again.",
        "Have the player ask for its keys again when the adapter tells it to.")
    /// The session ended before the license came, or a renewal came without a session.
    public static let sessionEnded = Self(
        112, "sessionEnded", "The secure session ended.",
        "Load the source again, so that its keys open a new session.")
    /// The session lives by license renewals, and none came.
    public static let sessionNotRenewed = Self(
        113, "sessionNotRenewed", "The player did not ask for its keys again, and the session ended.",
        "Have the renew closure renew the player's key requests.")
}
