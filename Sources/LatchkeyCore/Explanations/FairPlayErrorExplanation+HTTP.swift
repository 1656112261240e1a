extension FairPlayErrorExplanation {
    /// The statuses with which certificate, license and media requests are refused.
    ///
    /// Source: RFC 9110 §15.
    static let http: [Self] = [
        status(
            400, "bad request", "The service could not read the request.",
            [
                "The SPC's envelope is not the vendor's: base64, form or JSON.",
                "The SPC was made for a certificate that the service does not hold.",
            ],
            ["Compare the request with the vendor's: latchkey wire request.", "latchkey doctor --spc FILE."], .app),
        status(
            401, "unauthenticated", "The service does not know the caller.",
            ["The token is missing, expired or signed with another secret."],
            ["Get a fresh token right before the request.", "latchkey inspect token FILE."], .app),
        status(
            403, "forbidden", "The service knows the caller and refuses.",
            ["The token is for other content.", "The region, the account or the device is not allowed."],
            ["Ask the vendor, with the request id if the service gave one."], .service),
        status(
            404, "not found", "There is no such address, certificate or key.",
            ["The URL is wrong.", "The key was never stored at the vendor, or its content id differs."],
            ["Check the URL.", "Compare the content id with the packager's."], .packager),
        status(
            405, "method not allowed", "The address takes other methods.", ["A GET where a POST belongs."],
            ["Check the URL and the method."], .app),
        status(
            407, "proxy sign-in required", "A proxy on the way wants a sign-in.", ["The network's proxy."],
            ["Use another network."], .viewer),
        status(
            408, "request timeout", "The request took too long to arrive.", ["A slow network."], ["Try again."], .viewer
        ),
        status(
            410, "gone", "What was there is gone.", ["The content or the certificate was removed."],
            ["Ask the vendor."], .service),
        status(
            412, "precondition failed", "The service is not ready for this request.",
            ["At Mux: the asset is not ready yet."], ["Try again later."], .service),
        status(
            413, "too large", "The body is larger than the service takes.", ["An SPC that was encoded twice."],
            ["Send the SPC's own bytes, or encode them once."], .app),
        status(
            415, "unsupported media type", "The service takes another Content-Type.", ["A wrong Content-Type."],
            ["Set the Content-Type that the vendor documents."], .app),
        status(
            429, "too many requests", "The service limits requests.", ["Too many licenses at once."],
            ["Wait as Retry-After says."], .app),
        status(
            451, "not in this region", "The content may not be shown here.", ["The viewer's region."],
            ["Tell the viewer."], .viewer),
        status(
            500, "server error", "The service failed.", ["A fault of the service.", "An SPC that it cannot open."],
            ["Report it to the vendor, with the request id if the service gave one."], .service),
        status(
            502, "bad gateway", "A server behind the service failed.", ["The service."], ["Try again."], .service),
        status(
            503, "unavailable", "The service is overloaded or down for a moment.", ["The service."],
            ["Wait as Retry-After says, then try again."], .service),
        status(
            504, "gateway timeout", "A server behind the service was too slow.", ["The service."], ["Try again."],
            .service),
    ]

    private static func status(
        _ code: Int, _ name: String, _ meaning: String, _ causes: [String], _ remedies: [String], _ fixer: Fixer
    ) -> Self {
        Self(code, "HTTP \(code), \(name)", meaning, causes: causes, try: remedies, fixer: fixer, domain: .http)
    }

    /// The versions that key servers read out of what was no SPC: its first four bytes as a number.
    static let keyServer: [Self] = [
        Self(
            1_936_745_277, "“spc=” read as a version", "The first four bytes of what came as SPC are the text “spc=”.",
            causes: ["A form body was stored or sent where the SPC's own bytes belong."],
            try: ["Take the value of the field spc, undo its URL encoding and its base64, and use the bytes."],
            fixer: .app, domain: .keyServer),
        Self(
            813_827_283, "a certificate read as an SPC", "What came as SPC begins as a certificate does (30 82 04 d3).",
            causes: ["The certificate's bytes were sent in the place of the SPC."],
            try: ["Send what streamingContentKeyRequestData or makeStreamingContentKeyRequestData gave."],
            fixer: .app, domain: .keyServer),
    ]
}
