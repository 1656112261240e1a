import LatchkeyCore

/// The codes of NAGRA: a number means one thing to session management, and another to a license server.
///
/// Source: `Documentation/Vendors/NAGRA.md`, errors.
extension VendorProfile {
    static let nagraSessionCodes: [String: DocumentedCode] = [
        "1000": DocumentedCode(.invalidRequest, "The session request has no valid form."),
        "1001": DocumentedCode(
            .forbidden, "The token is for another device.", "Have the content token made for this device."),
        "1003": DocumentedCode(
            .unauthenticated, "The token is not authentic.",
            "Have the content token signed with the key that NAGRA has."),
        "1004": DocumentedCode(
            .unauthenticated, "The token's time of expiry is not valid.", "Give a content token whose exp lies ahead."),
        "1005": DocumentedCode(
            .forbidden, "The token is for another tenant.", "Use the session URL and the content token of one tenant."),
        "1006": DocumentedCode(.unauthenticated, "The token is not valid."),
        "1007": DocumentedCode(.concurrencyLimit, "The account has as many sessions as it may."),
        "1008": DocumentedCode(
            .forbidden, "Session management is off.",
            "Have session management turned on for the tenant, or leave the setting sessionURL out.",
            newCredentials: false),
        "1009": DocumentedCode(
            .forbidden, "The device does not belong to the account.",
            "Make the content token with a device of the viewer's account."),
        "1011": DocumentedCode(.invalidRequest, "The session request is not understood."),
        "1012": DocumentedCode(
            .serverPermanent, "The key that checks tokens is not available.",
            "Ask the operator whether the key for tokens is set up at NAGRA."),
        "1013": DocumentedCode(
            .invalidRequest, "The device's id is missing.", "Put the device's id into the content token.",
            newCredentials: true),
        "1017": DocumentedCode(
            .invalidRequest, "The external session id is longer than 256 characters.",
            "Use a shorter external session id."),
        "1018": DocumentedCode(
            .invalidRequest, "The external session id is in use already.",
            "Use another external session id for each session."),
        "3001": DocumentedCode(
            .forbidden, "The account is unknown.", "Register the viewer's account, or correct it in the content token."),
        "3004": DocumentedCode(
            .forbidden, "The device is unknown.", "Register the device, or correct it in the content token."),
        "4000": DocumentedCode(.serverTransient, "Session management failed inside."),
        "4001": DocumentedCode(.serverTransient, "Session management is not available."),
    ]

    static let nagraLicenseCodes: [String: DocumentedCode] = [
        "1001": DocumentedCode(.invalidRequest, "The license request has no valid form."),
        "1002": DocumentedCode(
            .invalidRequest, "The version in the license URL is not known.",
            "Check the version in the license URL, such as v1."),
        "1004": DocumentedCode(
            .invalidRequest, "The header of the tokens has no valid form.",
            "Send the tokens with commas and without blanks between them."),
        "1007": DocumentedCode(.concurrencyLimit, "The account has as many sessions as it may."),
        "2001": DocumentedCode(
            .invalidRequest, "The SPC has no valid form.", "Send the SPC as it is, as application/octet-stream."),
        "2103": DocumentedCode(
            .invalidRequest, "The license request names no content.", "Check the key URI, whose JSON has the ContentId."
        ),
        "3001": DocumentedCode(
            .unauthenticated, "The content token's version is not supported.", "Give the content token the version 1.0."
        ),
        "3002": DocumentedCode(.unauthenticated, "The key token's version is not supported."),
        "3005": DocumentedCode(
            .unauthenticated, "The token's type is unknown.", "Give the content token the typ ContentAuthZ."),
        "3006": DocumentedCode(.unauthenticated, "The token's format is not supported."),
        "3007": DocumentedCode(
            .unauthenticated, "The form of the token's content rights is not supported.",
            "Correct contentRights in the content token."),
        "3008": DocumentedCode(.unauthenticated, "The form of the token's entitlements is not supported."),
        "3009": DocumentedCode(.unauthenticated, "The form of the token's account is not supported."),
        "3011": DocumentedCode(.unauthenticated, "The form of the token's account profile is not supported."),
        "4000": DocumentedCode(
            .forbidden, "The license is not granted.", "Put a right for this content into the content token."),
        "4001": DocumentedCode(
            .unauthenticated, "The request has no content token.",
            "Send the content token in the header nv-authorizations."),
        "4002": DocumentedCode(
            .unauthenticated, "The request lacks the key token that it refers to.",
            "Send the content key token behind the content token."),
        "4003": DocumentedCode(.unauthenticated, "The request has several content tokens.", "Send one content token."),
        "4004": DocumentedCode(.invalidRequest, "The request has the same content key twice."),
        "4005": DocumentedCode(
            .unauthenticated, "The date of expiry is not valid.", "Give a content token whose dates lie ahead."),
        "4006": DocumentedCode(
            .unauthenticated, "The token was used for a license already.", "Give a new content token for each license."),
        "4007": DocumentedCode(
            .forbidden, "The token is for another device than the one that asks.",
            "Have the content token made for this device."),
        "4008": DocumentedCode(
            .forbidden, "The device's security level is too low for this content.",
            "Allow the security level of the device in the usage rules.", newCredentials: false),
        "4009": DocumentedCode(
            .forbidden, "The token is for another tenant.", "Use the license URL and the content token of one tenant."),
        "4010": DocumentedCode(
            .forbidden, "The key that signed the token may not sign such tokens.",
            "Sign the content token with a key for content rights."),
        "4011": DocumentedCode(.notFound, "There is no valid key for this content."),
        "4012": DocumentedCode(.invalidRequest, "The header's API is not valid."),
        "4013": DocumentedCode(.invalidRequest, "The header's caller is not valid."),
        "4014": DocumentedCode(
            .invalidRequest, "The token's kid cannot be used.", "Check the kid of the content token's signing key.",
            newCredentials: true),
        "4015": DocumentedCode(
            .unauthenticated, "The token's signing key is not found.",
            "Sign the content token with a key that NAGRA has."),
        "4016": DocumentedCode(
            .invalidRequest, "A required field is missing.", "Compare the content token with NAGRA's page.",
            newCredentials: true),
        "4017": DocumentedCode(
            .forbidden, "The device is turned off for this service.", "Have the operator turn the device on again.",
            newCredentials: false),
        "4018": DocumentedCode(
            .forbidden, "The token's device does not exist.", "Register the device, or correct it in the content token."
        ),
        "4019": DocumentedCode(
            .forbidden, "The device does not belong to the account.",
            "Make the content token with a device of the viewer's account."),
        "4020": DocumentedCode(
            .forbidden, "The account is not active.", "Have the operator activate the account.", newCredentials: false),
        "4021": DocumentedCode(
            .forbidden, "The product has no entitlement.", "Have the operator entitle the account to the product.",
            newCredentials: false),
        "4022": DocumentedCode(
            .notFound, "The tenant does not exist.", "Check the tenant's name in license URL and settings."),
        "4024": DocumentedCode(
            .notFound, "The tenant is not found.", "Check the tenant's name in license URL and settings."),
        "4025": DocumentedCode(
            .forbidden, "The tenant is not active.", "Ask NAGRA about the tenant.", newCredentials: false),
    ]
}
