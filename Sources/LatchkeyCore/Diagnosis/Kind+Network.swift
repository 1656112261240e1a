extension Diagnosis.Kind {
    /// What happens on the network: 300 to 399.
    static let network: [Self] = [
        .timedOut, .hostNotFound, .cannotConnect, .connectionLost, .tlsFailed, .bodyTooLarge, .transportFailed,
        .playlistUnreadable, .serverCertificateUntrusted, .serverCertificateExpired, .serverNameMismatch,
        .serverWithoutTLS, .replyMalformed, .headTooLarge, .requestMalformed, .offline,
    ]

    /// One exchange got no reply within `RetryPolicy.attemptTimeout`, as often as it was tried.
    ///
    /// - Status: none; no reply came.
    /// - App: says that the service cannot be reached, and asks again when the viewer does.
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
    /// The host refused the connection, or no way leads to it.
    ///
    /// - Status: none; no connection was made.
    /// - App: says that the service cannot be reached, and asks again when the viewer does.
    public static let cannotConnect = Self(
        302, "cannotConnect", "No connection could be made.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// The connection ended before the reply did.
    ///
    /// - Status: none, or one whose reply was cut off.
    /// - App: asks again when the viewer does.
    public static let connectionLost = Self(
        303, "connectionLost", "The connection ended before the reply did.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// No secure connection could be made, for another reason than the four kinds from 308 on.
    ///
    /// - Status: none; nothing was sent.
    /// - App: says that the service cannot be reached; the server's TLS or a proxy on the way is the usual cause.
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
    /// An exchange failed for a reason that has no kind of its own.
    ///
    /// - Status: none; no reply came.
    /// - App: looks at `underlying`, and asks again when the viewer does.
    public static let transportFailed = Self(
        306, "transportFailed", "The exchange failed.",
        "Check the network and the service, and try again.", isRetryable: true)
    /// A preload's playlist could not be loaded, or is none.
    ///
    /// - Status: any: the reason names it.
    /// - App: does nothing: the player loads the playlist itself, and its keys come then.
    public static let playlistUnreadable = Self(
        307, "playlistUnreadable", "A playlist could not be read.",
        "Look at the underlying error.")
    /// The server's TLS certificate comes from an authority that the device does not trust.
    ///
    /// - Status: none; nothing was sent.
    /// - App: says that the service cannot be reached; the server's operator, or a proxy's, has to mend it.
    public static let serverCertificateUntrusted = Self(
        308, "serverCertificateUntrusted",
        "The server's TLS certificate is not from an authority that this machine trusts.",
        "Give the server a TLS certificate of a known authority, or trust the authority that issued it.")
    /// The server's TLS certificate has expired, is not valid yet, or the device's date is wrong.
    ///
    /// - Status: none; nothing was sent.
    /// - App: asks the viewer to check the device's date; else the server's operator has to mend it.
    public static let serverCertificateExpired = Self(
        309, "serverCertificateExpired", "The server's TLS certificate has expired, or is not valid yet.",
        "Renew the server's TLS certificate, or correct the device's date.")
    /// The server's TLS certificate is for another name than the address has.
    ///
    /// - Status: none; nothing was sent.
    /// - App: uses the name that the certificate was issued for.
    public static let serverNameMismatch = Self(
        310, "serverNameMismatch", "The server's TLS certificate is for another host name.",
        "Use the host name that the server's TLS certificate was issued for.")
    /// The server speaks no TLS on this port: often it is one for http.
    ///
    /// - Status: none; nothing was sent.
    /// - App: corrects the scheme or the port of the address.
    public static let serverWithoutTLS = Self(
        311, "serverWithoutTLS", "The server does not use TLS on this port.",
        "Check the port, and whether the server expects http.")
    /// What answered is no HTTP server, or breaks the protocol's rules.
    ///
    /// - Status: none that can be read.
    /// - App: corrects the scheme or the port of the address, or looks for a proxy on the way.
    public static let replyMalformed = Self(
        312, "replyMalformed", "The reply is not valid HTTP.",
        "Check that the URL points to an HTTP server, with the right scheme and port.")
    /// The head of a reply has more bytes or header fields than the transport takes.
    ///
    /// - Status: any; the head was not read to its end.
    /// - App: checks that the address is the service's.
    package static let headTooLarge = Self(
        313, "headTooLarge", "The reply's head has too many bytes or header fields.",
        "Check that the URL points to the service.")
    /// A setting or a token made a header field, a method or an address that HTTP does not allow.
    ///
    /// - Status: none; nothing was sent.
    /// - App: corrects the setting or the token that the reason names.
    package static let requestMalformed = Self(
        314, "requestMalformed", "The request is malformed and cannot be sent.",
        "Check the URL and the header fields that result from the settings and the token.")
    /// The device has no network, or the app may not use the one that it has.
    ///
    /// - Status: none; nothing was sent.
    /// - App: asks the viewer to connect, or plays a stored key.
    public static let offline = Self(
        315, "offline", "The device has no network, or the app may not use it.",
        "Connect the device to a network, or allow the app to use it.", isRetryable: true)
}
