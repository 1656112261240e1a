import LatchkeyCore

/// The subcodes of Brightcove's Playback Restrictions.
///
/// Source: `Documentation/Vendors/Brightcove.md`, errors.
extension VendorProfile {
    static let brightcoveCodes: [String: DocumentedCode] = [
        "DUPLICATE_PARAMETERS": DocumentedCode(
            .invalidRequest, "The request has the same parameter twice.", status: 400),
        "TOKEN_REQUIRED": DocumentedCode(
            .unauthenticated, "The request has no token, and the account wants one.",
            "Give a JWT, which goes into bcov-auth.", status: 401),
        "TOKEN_VALIDATION": DocumentedCode(
            .unauthenticated, "The token is not valid.", "Sign the JWT with a key that is registered for the account.",
            status: 401),
        "ACCOUNT_ID": DocumentedCode(
            .forbidden, "The policy key is of another account.",
            "Check the setting publisherId, and the policy key of the catalog request.", status: 403,
            newCredentials: false),
        "CLIENT_GEO": DocumentedCode(.regionDenied, "The video may not be played in this region.", status: 403),
        "CLIENT_IP": DocumentedCode(
            .forbidden, "The video may not be played at this IP address.",
            "Look at the video's restrictions of IP addresses and proxies.", status: 403, newCredentials: false),
        "DOMAIN": DocumentedCode(
            .forbidden, "The video may not be played on this domain.", "Look at the video's restrictions of domains.",
            status: 403, newCredentials: false),
        "OFFERS": DocumentedCode(
            .forbidden, "The token has none of the video's offers.", "Put an offer of the video into the JWT.",
            status: 403),
        "TAGS": DocumentedCode(
            .forbidden, "The token has none of the video's tags.", "Put a tag of the video into the JWT.", status: 403),
        "VIDEO_NOT_PLAYABLE": DocumentedCode(
            .forbidden, "The video may not be played now.", "Look at the video's schedule and state in Video Cloud.",
            status: 403, newCredentials: false),
        "DENIED_BY_STREAM_LIMIT_CREATE": DocumentedCode(
            .concurrencyLimit, "The stream has as many viewers as it may.", status: 403),
        "DENIED_BY_STREAM_LIMIT_RENEW": DocumentedCode(
            .concurrencyLimit, "The stream was taken over while it played.", status: 403),
        "DENIED_BY_STREAM_LIMIT": DocumentedCode(
            .concurrencyLimit, "The viewer plays as many streams as the account allows.", status: 403),
        "DENIED_BY_DEVICE_LIMITING": DocumentedCode(
            .forbidden, "The viewer has registered as many devices as the token allows.",
            "Remove a device of the viewer's with Brightcove's API, or raise dlimit in the JWT.", status: 403),
        "VIDEO_NOT_FOUND": DocumentedCode(.notFound, "There is no such video.", status: 404),
    ]
}
