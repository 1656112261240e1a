import LatchkeyCore

/// The codes of ExpressPlay: those of the token service, which the customer's server asks, and those of a license.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`, errors.
extension VendorProfile {
    static let expressPlayCodes: [String: DocumentedCode] = [
        "-2002": DocumentedCode(
            .invalidRequest, "The token's time of expiry is not valid.",
            "Correct expirationTime in your server's token request."),
        "-2003": DocumentedCode(.invalidRequest, "The IP address is not valid."),
        "-2005": DocumentedCode(
            .invalidRequest, "The content key is not valid.", "Correct contentKey in your server's token request."),
        "-2008": DocumentedCode(.invalidRequest, "The flags of output control are not valid."),
        "-2017": DocumentedCode(
            .unauthenticated, "The authenticator is missing.",
            "Send customerAuthenticator in your server's token request."),
        "-2018": DocumentedCode(
            .unauthenticated, "The authenticator is not valid.",
            "Use the authenticator of this environment: test and production have one each."),
        "-2019": DocumentedCode(
            .forbidden, "No tokens are left.", "Have ExpressPlay give the account more tokens.", newCredentials: false),
        "-2020": DocumentedCode(.invalidRequest, "The rights are missing."),
        "-2021": DocumentedCode(.invalidRequest, "The kind of rights is not valid."),
        "-2022": DocumentedCode(.invalidRequest, "The rental's end is missing."),
        "-2023": DocumentedCode(.invalidRequest, "The duration of playback is missing."),
        "-2025": DocumentedCode(.invalidRequest, "The duration of playback is not valid."),
        "-2027": DocumentedCode(
            .invalidRequest, "The content key has not 32 hexadecimal digits.",
            "Give contentKey 32 hexadecimal digits in your server's token request."),
        "-2030": DocumentedCode(.serverTransient, "ExpressPlay's administration failed."),
        "-2031": DocumentedCode(
            .forbidden, "The account is disabled.", "Ask ExpressPlay about the account.", newCredentials: false),
        "-2033": DocumentedCode(.invalidRequest, "The cookie is not valid.", "Give a cookie of at most 32 characters."),
        "-2034": DocumentedCode(.invalidRequest, "A value of output control is out of range."),
        "-2035": DocumentedCode(.invalidRequest, "A value that belongs to another is missing."),
        "-2036": DocumentedCode(.invalidRequest, "The extension's type has not 4 characters."),
        "-2037": DocumentedCode(.invalidRequest, "The extension's payload is no base64."),
        "-2040": DocumentedCode(.invalidRequest, "The flag of output control has not 4 bytes."),
        "-3004": DocumentedCode(.invalidRequest, "The error format is not valid.", "Use html or json as errorFormat."),
        "-4001": DocumentedCode(
            .forbidden, "The device could not be authenticated.",
            "Register the device: play once with the setting requestType 2."),
        "-4010": DocumentedCode(
            .unauthenticated, "The token in the license URL is not valid.", "Get a new token URL for each license."),
        "-4018": DocumentedCode(.invalidRequest, "The kid is missing.", "Send kid in your server's token request."),
        "-4019": DocumentedCode(
            .notFound, "The key store gave no content key.", "Check that the key of this kid is stored at ExpressPlay."),
        "-4020": DocumentedCode(.invalidRequest, "The kid has not 32 hexadecimal digits."),
        "-4021": DocumentedCode(.invalidRequest, "The text behind ^ in the kid has a wrong length."),
        "-4022": DocumentedCode(.invalidRequest, "The kid is not valid."),
        "-4024": DocumentedCode(.invalidRequest, "The encrypted key or its kek is not valid."),
        "-5003": DocumentedCode(.invalidRequest, "The general flags are not valid.", "Send 0000 as generalFlags."),
        "-6001": DocumentedCode(.invalidRequest, "The parameter fpExtension is not valid."),
        "-6002": DocumentedCode(
            .invalidRequest, "The token is of another system than FairPlay.",
            "Make tokens at the address for FairPlay, hms/fp/token."),
        "-6003": DocumentedCode(
            .invalidRequest, "The parameter iv is not valid.",
            "Give iv 32 hexadecimal digits in your server's token request."),
        "-6004": DocumentedCode(.serverTransient, "The CKC could not be made."),
        "-6005": DocumentedCode(.invalidRequest, "The key data is not valid."),
        "-6006": DocumentedCode(
            .forbidden, "The account has no FairPlay.", "Have ExpressPlay turn FairPlay on for the account.",
            newCredentials: false),
        "-6007": DocumentedCode(.invalidRequest, "The duration of the rental is not valid."),
        "-6008": DocumentedCode(
            .invalidRequest, "FairPlay tokens of this service cannot be bound to a device.",
            "Make the token without a binding to a device."),
        "-6009": DocumentedCode(
            .forbidden, "The FairPlay option is disabled.", "Have ExpressPlay turn FairPlay on for the account.",
            newCredentials: false),
    ]
}
