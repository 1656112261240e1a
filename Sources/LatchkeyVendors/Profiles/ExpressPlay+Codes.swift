import LatchkeyCore

/// The codes of ExpressPlay: those of the token service, which the customer's server asks, and those of a license.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`, errors.
extension VendorProfile {
    static let expressPlayCodes = CodeTable(
        """
        -2002 | invalidRequest | The token's time of expiry is not valid. | Correct expirationTime in your server's token request.
        -2003 | invalidRequest | The IP address is not valid.
        -2005 | invalidRequest | The content key is not valid. | Correct contentKey in your server's token request.
        -2008 | invalidRequest | The flags of output control are not valid.
        -2017 | unauthenticated | The authenticator is missing. | Send customerAuthenticator in your server's token request.
        -2018 | unauthenticated | The authenticator is not valid. | Use the authenticator of this environment: test and production have one each.
        -2019 | forbidden | No tokens are left. | Have ExpressPlay give the account more tokens. | | sameCredentials
        -2020 | invalidRequest | The rights are missing.
        -2021 | invalidRequest | The kind of rights is not valid.
        -2022 | invalidRequest | The rental's end is missing.
        -2023 | invalidRequest | The duration of playback is missing.
        -2025 | invalidRequest | The duration of playback is not valid.
        -2027 | invalidRequest | The content key has not 32 hexadecimal digits. | Give contentKey 32 hexadecimal digits in your server's token request.
        -2030 | serverTransient | ExpressPlay's administration failed.
        -2031 | forbidden | The account is disabled. | Ask ExpressPlay about the account. | | sameCredentials
        -2033 | invalidRequest | The cookie is not valid. | Give a cookie of at most 32 characters.
        -2034 | invalidRequest | A value of output control is out of range.
        -2035 | invalidRequest | A value that belongs to another is missing.
        -2036 | invalidRequest | The extension's type has not 4 characters.
        -2037 | invalidRequest | The extension's payload is not base64.
        -2040 | invalidRequest | The flag of output control has not 4 bytes.
        -3004 | invalidRequest | The error format is not valid. | Use html or json as errorFormat.
        -4001 | forbidden | The device could not be authenticated. | Register the device: play once with the setting requestType 2.
        -4010 | unauthenticated | The token in the license URL is not valid. | Get a new token URL for each license.
        -4018 | invalidRequest | The kid is missing. | Send kid in your server's token request.
        -4019 | notFound | The key store gave no content key. | Check that the key of this kid is stored at ExpressPlay.
        -4020 | invalidRequest | The kid has not 32 hexadecimal digits.
        -4021 | invalidRequest | The text behind ^ in the kid has a wrong length.
        -4022 | invalidRequest | The kid is not valid.
        -4024 | invalidRequest | The encrypted key or its kek is not valid.
        -5003 | invalidRequest | The general flags are not valid. | Send 0000 as generalFlags.
        -6001 | invalidRequest | The parameter fpExtension is not valid.
        -6002 | invalidRequest | The token is of another system than FairPlay. | Make tokens at the address for FairPlay, hms/fp/token.
        -6003 | invalidRequest | The parameter iv is not valid. | Give iv 32 hexadecimal digits in your server's token request.
        -6004 | serverTransient | The CKC could not be made.
        -6005 | invalidRequest | The key data is not valid.
        -6006 | forbidden | The account has no FairPlay. | Have ExpressPlay turn FairPlay on for the account. | | sameCredentials
        -6007 | invalidRequest | The duration of the rental is not valid.
        -6008 | invalidRequest | FairPlay tokens of this service cannot be bound to a device. | Make the token without a binding to a device.
        -6009 | forbidden | The FairPlay option is disabled. | Have ExpressPlay turn FairPlay on for the account. | | sameCredentials
        """)
}
