import LatchkeyCore

/// The subcodes of Brightcove's Playback Restrictions.
///
/// Source: `Documentation/Vendors/Brightcove.md`, errors.
extension VendorProfile {
    static let brightcoveCodes = CodeTable(
        """
        DUPLICATE_PARAMETERS | invalidRequest | The request has the same parameter twice. | | 400
        TOKEN_REQUIRED | unauthenticated | The request has no token, and the account wants one. | Give a JWT, which goes into bcov-auth. | 401
        TOKEN_VALIDATION | unauthenticated | The token is not valid. | Sign the JWT with a key that is registered for the account. | 401
        ACCOUNT_ID | forbidden | The policy key is of another account. | Check the setting publisherId, and the policy key of the catalog request. | 403 | sameCredentials
        CLIENT_GEO | regionDenied | The video may not be played in this region. | | 403
        CLIENT_IP | forbidden | The video may not be played at this IP address. | Look at the video's restrictions of IP addresses and proxies. | 403 | sameCredentials
        DOMAIN | forbidden | The video may not be played on this domain. | Look at the video's restrictions of domains. | 403 | sameCredentials
        OFFERS | forbidden | The token has none of the video's offers. | Put an offer of the video into the JWT. | 403
        TAGS | forbidden | The token has none of the video's tags. | Put a tag of the video into the JWT. | 403
        VIDEO_NOT_PLAYABLE | forbidden | The video may not be played now. | Look at the video's schedule and state in Video Cloud. | 403 | sameCredentials
        DENIED_BY_STREAM_LIMIT_CREATE | concurrencyLimit | The stream has as many viewers as it may. | | 403
        DENIED_BY_STREAM_LIMIT_RENEW | concurrencyLimit | The stream was taken over while it played. | | 403
        DENIED_BY_STREAM_LIMIT | concurrencyLimit | The viewer plays as many streams as the account allows. | | 403
        DENIED_BY_DEVICE_LIMITING | forbidden | The viewer has registered as many devices as the token allows. | Remove a device of the viewer's with Brightcove's API, or raise dlimit in the JWT. | 403
        VIDEO_NOT_FOUND | notFound | There is no such video. | | 404
        """)
}
