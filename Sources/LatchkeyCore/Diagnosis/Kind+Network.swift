extension Diagnosis.Kind {
    /// Errors of the network: 300 to 399.
    static let network: [Self] = [
        .timedOut, .hostNotFound, .cannotConnect, .connectionLost, .tlsFailed, .bodyTooLarge, .transportFailed,
        .playlistUnreadable, .serverCertificateUntrusted, .serverCertificateExpired, .serverNameMismatch,
        .serverWithoutTLS, .replyMalformed, .headTooLarge, .requestMalformed, .offline,
    ]

    /// An exchange got no reply within `RetryPolicy.attemptTimeout` in any of its attempts.
    ///
    /// - Status: none; no reply came.
    /// - App: says that the service cannot be reached, and retries when the viewer asks.
    public static let timedOut = Self(
        300, "timedOut", "No reply came in time.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// The host's name does not resolve to an address.
    ///
    /// - Status: none; no connection was made.
    /// - App: checks the network, and the name in the settings if only this host is unknown.
    public static let hostNotFound = Self(
        301, "hostNotFound", "The host's name is unknown.",
        "Check the host's name in the settings, and the network.", isRetryable: true)
    /// The host refused the connection, or cannot be reached.
    ///
    /// - Status: none; no connection was made.
    /// - App: says that the service cannot be reached, and retries when the viewer asks.
    public static let cannotConnect = Self(
        302, "cannotConnect", "No connection could be made.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// The connection ended before the reply was complete.
    ///
    /// - Status: none, or one whose reply was cut off.
    /// - App: retries when the viewer asks.
    public static let connectionLost = Self(
        303, "connectionLost", "The connection ended before the reply did.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// No secure connection could be made, for a reason other than the four kinds from 308 on.
    ///
    /// - Status: none; nothing was sent.
    /// - App: says that the service cannot be reached; the server's TLS or a proxy is the usual cause.
    public static let tlsFailed = Self(
        304, "tlsFailed", "No secure connection could be made.",
        "Check the server's TLS certificate and the device's date.")
    /// The body of a reply is larger than `LoaderConfiguration.bodyLimit`, or a playlist than its limit.
    ///
    /// - Status: any; the body was not read to its end.
    /// - App: checks that the address is the service's, and raises the limit if it is.
    public static let bodyTooLarge = Self(
        305, "bodyTooLarge", "The reply's body is larger than the limit.",
        "Check that the URL points to the license service, or raise the body limit.")
    /// An exchange failed for a reason without a specific kind.
    ///
    /// - Status: none; no reply came.
    /// - App: checks `underlying`, and retries when the viewer asks.
    public static let transportFailed = Self(
        306, "transportFailed", "The exchange failed.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// A preload's playlist could not be loaded, or is not a playlist.
    ///
    /// - Status: any: the reason names it.
    /// - App: does nothing: the player loads the playlist itself, and its keys are fetched then.
    public static let playlistUnreadable = Self(
        307, "playlistUnreadable", "A playlist could not be read.",
        "Look at the underlying error.")
    /// The server's TLS certificate comes from an authority that the device does not trust.
    ///
    /// - Status: none; nothing was sent.
    /// - App: says that the service cannot be reached; the server's operator, or a proxy's, must fix it.
    public static let serverCertificateUntrusted = Self(
        308, "serverCertificateUntrusted",
        "The server's TLS certificate is not from an authority that this machine trusts.",
        "Give the server a TLS certificate of a known authority, or trust the authority that issued it.")
    /// The server's TLS certificate has expired, is not valid yet, or the device's date is wrong.
    ///
    /// - Status: none; nothing was sent.
    /// - App: asks the viewer to check the device's date; otherwise the server's operator must fix it.
    public static let serverCertificateExpired = Self(
        309, "serverCertificateExpired", "The server's TLS certificate has expired, or is not valid yet.",
        "Renew the server's TLS certificate, or correct the device's date.")
    /// The server's TLS certificate is for a different name than the address's.
    ///
    /// - Status: none; nothing was sent.
    /// - App: uses the name that the certificate was issued for.
    public static let serverNameMismatch = Self(
        310, "serverNameMismatch", "The server's TLS certificate is for another host name.",
        "Use the host name that the server's TLS certificate was issued for.")
    /// The server does not use TLS on this port: often it is a port for http.
    ///
    /// - Status: none; nothing was sent.
    /// - App: corrects the scheme or the port of the address.
    public static let serverWithoutTLS = Self(
        311, "serverWithoutTLS", "The server does not use TLS on this port.",
        "Check the port, and whether the server expects http.")
    /// The answer is not from an HTTP server, or breaks the protocol's rules.
    ///
    /// - Status: none that can be read.
    /// - App: corrects the scheme or the port of the address, or checks for a proxy.
    public static let replyMalformed = Self(
        312, "replyMalformed", "The reply is not valid HTTP.",
        "Check that the URL points to an HTTP server, with the right scheme and port.")
    /// The head of a reply has more bytes or header fields than the transport allows.
    ///
    /// - Status: any; the head was not read to its end.
    /// - App: checks that the address is the service's.
    package static let headTooLarge = Self(
        313, "headTooLarge", "The reply's head has too many bytes or header fields.",
        "Check that the URL points to the service.")
    /// A setting or a token led to a header field, a method or an address that HTTP does not allow.
    ///
    /// - Status: none; nothing was sent.
    /// - App: corrects the setting or the token that the reason names.
    package static let requestMalformed = Self(
        314, "requestMalformed", "The request is malformed and cannot be sent.",
        "Check the URL and the header fields that result from the settings and the token.")
    /// The device has no network, or the app may not use it.
    ///
    /// - Status: none; nothing was sent.
    /// - App: asks the viewer to connect, or plays a stored key.
    public static let offline = Self(
        315, "offline", "The device has no network, or the app may not use it.",
        "Connect the device to a network, or allow the app to use it.", isRetryable: true)
}
