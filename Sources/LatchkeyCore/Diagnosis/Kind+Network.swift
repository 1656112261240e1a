extension Diagnosis.Kind {
    /// What happens on the network: 300 to 399.
    static let network: [Self] = [
        .timedOut, .hostNotFound, .cannotConnect, .connectionLost, .tlsFailed, .bodyTooLarge, .transportFailed,
        .playlistUnreadable, .serverCertificateUntrusted, .serverCertificateExpired, .serverNameMismatch,
        .serverWithoutTLS, .replyMalformed, .headTooLarge, .requestMalformed, .offline,
    ]

    /// One exchange took too long; `deadlineExceeded` is the key's own deadline.
    public static let timedOut = Self(
        300, "timedOut", "No reply came in time.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// The name does not resolve.
    public static let hostNotFound = Self(
        301, "hostNotFound", "The host's name is unknown.",
        "Check the host's name in the settings, and the network.", isRetryable: true)
    /// Refused, or unreachable.
    public static let cannotConnect = Self(
        302, "cannotConnect", "No connection could be made.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// The reply was cut off.
    public static let connectionLost = Self(
        303, "connectionLost", "The connection ended before the reply did.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// For another reason than the four TLS kinds from 308 on.
    public static let tlsFailed = Self(
        304, "tlsFailed", "No secure connection could be made.",
        "Check the server's TLS certificate and the device's date.")
    /// The limit is `LoaderConfiguration`'s.
    public static let bodyTooLarge = Self(
        305, "bodyTooLarge", "The reply's body is larger than the limit.",
        "Check that the URL is that of the license service, or raise the body limit.")
    /// Anything that has no kind of its own.
    public static let transportFailed = Self(
        306, "transportFailed", "The exchange failed.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// Of a preload: it could not be loaded, or is none.
    public static let playlistUnreadable = Self(
        307, "playlistUnreadable", "A playlist could not be read.",
        "Look at the underlying error.")
    /// The chain ends at an unknown root.
    public static let serverCertificateUntrusted = Self(
        308, "serverCertificateUntrusted",
        "The server's TLS certificate comes from no authority that this machine trusts.",
        "Give the server a TLS certificate of a known authority, or trust the authority that issued it.")
    /// The server's certificate is old, or the device's date is wrong.
    public static let serverCertificateExpired = Self(
        309, "serverCertificateExpired", "The server's TLS certificate has expired, or is not valid yet.",
        "Renew the server's TLS certificate, or set the device's date right.")
    /// The URL names the server by another name.
    public static let serverNameMismatch = Self(
        310, "serverNameMismatch", "The server's TLS certificate is for another host name.",
        "Use the host name that the server's TLS certificate was issued for.")
    /// Often an http port.
    public static let serverWithoutTLS = Self(
        311, "serverWithoutTLS", "The server speaks no TLS on this port.",
        "Check the port, and whether the server is one for http.")
    /// Something else than an HTTP server answered.
    public static let replyMalformed = Self(
        312, "replyMalformed", "The reply is no HTTP, or breaks its rules.",
        "Check that the URL is that of an HTTP server, with the right scheme and port.")
    /// The limits are the transport's.
    public static let headTooLarge = Self(
        313, "headTooLarge", "The reply's head has too many bytes or header fields.",
        "Check that the URL is that of the service.")
    /// A header field, a method or a URL that HTTP does not allow.
    public static let requestMalformed = Self(
        314, "requestMalformed", "The request cannot be sent as it is.",
        "Check the URL and the header fields that the settings and the token make.")
    /// Wait for the network, or play a stored key.
    public static let offline = Self(
        315, "offline", "The device has no network, or may not use it.",
        "Connect the device to a network, or let the app use the one that it has.", isRetryable: true)
}
