import LatchkeyCore

/// The codes of drm.cloud.
///
/// Source: `Documentation/Vendors/CloudDRM.md`, errors.
extension VendorProfile {
    static let cloudDRMCodes: [String: DocumentedCode] = [
        "drm_3030": DocumentedCode(
            .forbidden, "The token does not allow this license, because of its key ids or its IP address.",
            "Make the token for this key, and for the address that the viewer comes from.", status: 403),
        "drm_3031": DocumentedCode(
            .unauthenticated, "The user token is invalid or has expired.",
            "Make a new user token, and check the clock of the server that makes it.", status: 403),
        "drm_3032": DocumentedCode(
            .unauthenticated, "The token's signature is wrong.",
            "Sign the token with the tenant's key, decoded from base64.", status: 403),
        "drm_3033": DocumentedCode(
            .forbidden, "The token is for other keys.", "Put this key's id into the token's kid.", status: 403),
        "drm_3034": DocumentedCode(
            .forbidden, "The token is for another IP address.",
            "Make the token for the address that the viewer comes from.", status: 403),
        "drm_3035": DocumentedCode(
            .unauthenticated, "The token could not be decrypted.", "Encrypt the token with this tenant's key.",
            status: 403),
        "drm_3036": DocumentedCode(
            .unauthenticated, "The user token is not valid.", "Send a user token of this tenant in x-drm-usertoken.",
            status: 403),
        "drm_3037": DocumentedCode(
            .unauthenticated, "The token could not be validated.",
            "Compare the token's claims with the vendor's page, and make a new one.", status: 403),
        "drm_3038": DocumentedCode(
            .unauthenticated, "The frontend's signature is wrong.", "Check how your frontend signs its requests.",
            status: 403),
        "drm_3039": DocumentedCode(
            .unauthenticated, "The one-time token was used already.", "Give a new token for each license request.",
            status: 403),
        "drm_3100": DocumentedCode(.serverTransient, "The license server failed.", status: 403),
        "drm_4002": DocumentedCode(
            .invalidRequest, "The request has no payload.", "Send the SPC as the body of the license request.",
            status: 403),
        "drm_4003": DocumentedCode(
            .invalidRequest, "The payload could not be read.",
            "Send the SPC as it is, and choose the profile variant that does.", status: 403),
        "drm_4005": DocumentedCode(
            .invalidRequest, "The brand is unknown or not set up.",
            "Check the setting brandGuid, and that FairPlay is set up for this tenant.", status: 403),
        "common_3": DocumentedCode(.serverTransient, "The service failed inside.", status: 500),
    ]
}
