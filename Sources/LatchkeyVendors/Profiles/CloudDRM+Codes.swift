import LatchkeyCore

/// The codes of drm.cloud.
///
/// Source: `Documentation/Vendors/CloudDRM.md`, errors.
extension VendorProfile {
    static let cloudDRMCodes = CodeTable(
        """
        drm_3030 | forbidden | The token does not allow this license, because of its key ids or its IP address. | Make the token for this key, and for the address that the viewer comes from. | 403
        drm_3031 | unauthenticated | The user token is invalid or has expired. | Make a new user token, and check the clock of the server that makes it. | 403
        drm_3032 | unauthenticated | The token's signature is wrong. | Sign the token with the tenant's key, decoded from base64. | 403
        drm_3033 | forbidden | The token is for other keys. | Put this key's id into the token's kid. | 403
        drm_3034 | forbidden | The token is for another IP address. | Make the token for the address that the viewer comes from. | 403
        drm_3035 | unauthenticated | The token could not be decrypted. | Encrypt the token with this tenant's key. | 403
        drm_3036 | unauthenticated | The user token is not valid. | Send a user token of this tenant in x-drm-usertoken. | 403
        drm_3037 | unauthenticated | The token could not be validated. | Compare the token's claims with the vendor's page, and make a new one. | 403
        drm_3038 | unauthenticated | The frontend's signature is wrong. | Check how your frontend signs its requests. | 403
        drm_3039 | unauthenticated | The one-time token was used already. | Give a new token for each license request. | 403
        drm_3100 | serverTransient | The license server failed. | | 403
        drm_4002 | invalidRequest | The request has no payload. | Send the SPC as the body of the license request. | 403
        drm_4003 | invalidRequest | The payload could not be read. | Send the SPC as it is, and choose the profile variant that does. | 403
        drm_4005 | invalidRequest | The brand is unknown or not set up. | Check the setting brandGuid, and that FairPlay is set up for this tenant. | 403
        common_3 | serverTransient | The service failed inside. | | 500
        """)
}
