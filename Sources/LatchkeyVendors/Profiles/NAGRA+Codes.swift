import LatchkeyCore

/// The codes of NAGRA: a number means one thing to session management, and another to a license server.
///
/// Source: `Documentation/Vendors/NAGRA.md`, errors.
extension VendorProfile {
    static let nagraSessionCodes = CodeTable(
        """
        1000 | invalidRequest | The session request has no valid form.
        1001 | forbidden | The token is for another device. | Have the content token made for this device.
        1003 | unauthenticated | The token is not authentic. | Have the content token signed with the key that NAGRA has.
        1004 | unauthenticated | The token's time of expiry is not valid. | Give a content token whose exp lies ahead.
        1005 | forbidden | The token is for another tenant. | Use the session URL and the content token of one tenant.
        1006 | unauthenticated | The token is not valid.
        1007 | concurrencyLimit | The account has as many sessions as it may.
        1008 | forbidden | Session management is off. | Have session management turned on for the tenant, or leave the setting sessionURL out. | | sameCredentials
        1009 | forbidden | The device does not belong to the account. | Make the content token with a device of the viewer's account.
        1011 | invalidRequest | The session request is not understood.
        1012 | serverPermanent | The key that checks tokens is not available. | Ask the operator whether the key for tokens is set up at NAGRA.
        1013 | invalidRequest | The device's id is missing. | Put the device's id into the content token. | | newCredentials
        1017 | invalidRequest | The external session id is longer than 256 characters. | Use a shorter external session id.
        1018 | invalidRequest | The external session id is in use already. | Use another external session id for each session.
        3001 | forbidden | The account is unknown. | Register the viewer's account, or correct it in the content token.
        3004 | forbidden | The device is unknown. | Register the device, or correct it in the content token.
        4000 | serverTransient | Session management failed inside.
        4001 | serverTransient | Session management is not available.
        """)

    static let nagraLicenseCodes = CodeTable(
        """
        1001 | invalidRequest | The license request has no valid form.
        1002 | invalidRequest | The version in the license URL is not known. | Check the version in the license URL, such as v1.
        1004 | invalidRequest | The header of the tokens has no valid form. | Send the tokens with commas and without blanks between them.
        1007 | concurrencyLimit | The account has as many sessions as it may.
        2001 | invalidRequest | The SPC has no valid form. | Send the SPC as it is, as application/octet-stream.
        2103 | invalidRequest | The license request names no content. | Check the key URI, whose JSON has the ContentId.
        3001 | unauthenticated | The content token's version is not supported. | Give the content token the version 1.0.
        3002 | unauthenticated | The key token's version is not supported.
        3005 | unauthenticated | The token's type is unknown. | Give the content token the typ ContentAuthZ.
        3006 | unauthenticated | The token's format is not supported.
        3007 | unauthenticated | The form of the token's content rights is not supported. | Correct contentRights in the content token.
        3008 | unauthenticated | The form of the token's entitlements is not supported.
        3009 | unauthenticated | The form of the token's account is not supported.
        3011 | unauthenticated | The form of the token's account profile is not supported.
        4000 | forbidden | The license is not granted. | Put a right for this content into the content token.
        4001 | unauthenticated | The request has no content token. | Send the content token in the header nv-authorizations.
        4002 | unauthenticated | The request lacks the key token that it refers to. | Send the content key token behind the content token.
        4003 | unauthenticated | The request has several content tokens. | Send one content token.
        4004 | invalidRequest | The request has the same content key twice.
        4005 | unauthenticated | The date of expiry is not valid. | Give a content token whose dates lie ahead.
        4006 | unauthenticated | The token was used for a license already. | Give a new content token for each license.
        4007 | forbidden | The token is not for the requesting device. | Have the content token made for this device.
        4008 | forbidden | The device's security level is too low for this content. | Allow the security level of the device in the usage rules. | | sameCredentials
        4009 | forbidden | The token is for another tenant. | Use the license URL and the content token of one tenant.
        4010 | forbidden | The key that signed the token may not sign such tokens. | Sign the content token with a key for content rights.
        4011 | notFound | There is no valid key for this content.
        4012 | invalidRequest | The header's API is not valid.
        4013 | invalidRequest | The header's caller is not valid.
        4014 | invalidRequest | The token's kid cannot be used. | Check the kid of the content token's signing key. | | newCredentials
        4015 | unauthenticated | The token's signing key is not found. | Sign the content token with a key that NAGRA has.
        4016 | invalidRequest | A required field is missing. | Compare the content token with NAGRA's page. | | newCredentials
        4017 | forbidden | The device is turned off for this service. | Have the operator turn the device on again. | | sameCredentials
        4018 | forbidden | The token's device does not exist. | Register the device, or correct it in the content token.
        4019 | forbidden | The device does not belong to the account. | Make the content token with a device of the viewer's account.
        4020 | forbidden | The account is not active. | Have the operator activate the account. | | sameCredentials
        4021 | forbidden | The product has no entitlement. | Have the operator entitle the account to the product. | | sameCredentials
        4022 | notFound | The tenant does not exist. | Check the tenant's name in license URL and settings.
        4024 | notFound | The tenant is not found. | Check the tenant's name in license URL and settings.
        4025 | forbidden | The tenant is not active. | Ask NAGRA about the tenant. | | sameCredentials
        """)
}
