extension FairPlayErrorExplanation {
    /// The numbers of the URL loading system that requests for certificates, licenses and media end with.
    static let urlLoading: [Self] = network + security + requests

    private static let network: [Self] = [
        row(
            -1001, "timedOut", "The server did not answer in time.", "A slow or silent service.",
            "Measure the service with latchkey doctor; raise the timeout only then.", .service),
        row(
            -1003, "cannotFindHost", "The host's name is not known.", "A misspelled host.", "Check the URL's host.",
            .app),
        row(
            -1004, "cannotConnectToHost", "The server takes no connections.",
            "The service is down, or the port is wrong.", "Check host and port.", .service),
        row(
            -1005, "networkConnectionLost", "The connection ended before the reply did.",
            "The network, or a server that closes idle connections.", "Try again once.", .service),
        row(
            -1006, "dnsLookupFailed", "The name server gave no answer.", "The network's name server.",
            "Check the network.", .viewer),
        row(
            -1008, "resourceUnavailable", "The resource cannot be had now.", "The service.", "Try again later.",
            .service
        ),
        row(
            -1009, "notConnectedToInternet", "The device has no network, or the request may not use it.",
            "The viewer is offline; or the URL is a file's, of a download that lacks what it is asked for.",
            "Play stored keys, or wait for the network. Where the error names a .movpkg, download the title again.",
            .viewer),
    ]

    private static let security: [Self] = [
        row(
            -1022, "appTransportSecurityRequiresSecureConnection", "The system refuses http without TLS.",
            "A certificate or license URL with http.", "Use https URLs.", .app),
        row(
            -1200, "secureConnectionFailed", "No TLS connection could be made.",
            "A server without TLS at this port, or with an old protocol.", "Check the port and the server's TLS.",
            .service),
        row(
            -1201, "serverCertificateHasBadDate", "The server's TLS certificate is out of date.",
            "It expired, or the device's clock is wrong.", "Renew it; check the clock.", .service),
        row(
            -1202, "serverCertificateUntrusted", "Nobody whom the device trusts signed the server's TLS certificate.",
            "A self-signed certificate, or a proxy that reads along.", "Use a certificate of a public authority.",
            .service),
        row(
            -1203, "serverCertificateHasUnknownRoot", "The root of the server's TLS certificate is unknown.",
            "A private authority.", "Install the authority on the device, or use a public one.", .service),
    ]

    private static let requests: [Self] = [
        row(-999, "cancelled", "The request was cancelled.", "The player moved on.", "Show nothing.", .app),
        row(-1000, "badURL", "The URL is malformed.", "Blanks or brackets in a URL.", "Escape the URL's parts.", .app),
        row(
            -1007, "httpTooManyRedirects", "The server redirects too often.",
            "Two addresses that redirect to each other.",
            "Configure the URL that is redirected to.", .service),
        row(
            -1011, "badServerResponse", "The server's reply makes no sense.", "The service or a proxy before it.",
            "Look at the reply.", .service),
        row(
            -1012, "userCancelledAuthentication", "The server asked for a sign-in and got none.",
            "A 401 without a token.", "Send the token.", .app),
        row(
            -1013, "userAuthenticationRequired", "The server wants a sign-in.", "A missing or expired token.",
            "Send a fresh token.", .app),
        row(
            -1100, "fileDoesNotExist", "The file is not there.", "A wrong file URL.", "Check the path.", .app),
        row(
            -1103, "dataLengthExceedsMaximum", "The reply is larger than allowed.", "A wrong URL.", "Check the URL.",
            .app
        ),
    ]

    private static func row(
        _ code: Int, _ name: String, _ meaning: String, _ cause: String, _ remedy: String, _ fixer: Fixer
    ) -> Self {
        Self(code, name, meaning, causes: [cause], try: [remedy], fixer: fixer, domain: .url)
    }
}
