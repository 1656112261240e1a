import LatchkeyCore

/// The codes of DoveRunner, but for those of other systems than FairPlay.
///
/// Source: `Documentation/Vendors/DoveRunner.md`, errors.
extension VendorProfile {
    static let doveRunnerCodes: [String: DocumentedCode] = [
        "1002": DocumentedCode(
            .forbidden, "The trial's licenses or users are used up.",
            "Ask DoveRunner for a plan, or for a longer trial.", newCredentials: false),
        "1003": DocumentedCode(
            .notFound, "The site id is unknown.", "Check the setting siteId, and the site_id of the token."),
        "1004": DocumentedCode(
            .forbidden, "The site's service is stopped.", "Ask DoveRunner to start the site's service.",
            newCredentials: false),
        "1005": DocumentedCode(
            .forbidden, "The trial has ended.", "Ask DoveRunner for a plan, or for a longer trial.",
            newCredentials: false),
        "1006": DocumentedCode(
            .serverPermanent, "The site's key could not be decrypted.", "Report the code to DoveRunner."),
        "2001": DocumentedCode(.serverTransient, "The service's database could not be reached."),
        "2701": DocumentedCode(.serverTransient, "The license could not be recorded."),
        "2702": DocumentedCode(.serverTransient, "The refusal could not be recorded."),
        "7001": DocumentedCode(
            .notFound, "The content was not packaged with this site.",
            "Check that the key URI's content id is one that was packaged."),
        "7002": DocumentedCode(.serverTransient, "The data for the address of usage rules could not be made."),
        "7006": DocumentedCode(
            .serverPermanent, "The content key could not be decrypted.",
            "Package the content again, or report the code to DoveRunner."),
        "7007": DocumentedCode(.unauthenticated, "The custom data could not be parsed."),
        "7008": DocumentedCode(.unauthenticated, "The custom data could not be decrypted."),
        "7009": DocumentedCode(
            .unauthenticated, "The token could not be parsed.",
            "Give the token's JSON in base64, as the vendor's page has it."),
        "7010": DocumentedCode(
            .unauthenticated, "The request has no token.", "Send the token as pallycon-customdata-v2."),
        "7011": DocumentedCode(
            .unauthenticated, "The token has expired, or its time has not come yet.",
            "Make the token right before the request, with its timestamp in UTC."),
        "7012": DocumentedCode(
            .forbidden, "The token is for another content.", "Put the key URI's content id into the token's cid."),
        "7013": DocumentedCode(.unauthenticated, "The token's JSON is not valid."),
        "7016": DocumentedCode(.unauthenticated, "The token is not valid."),
        "7017": DocumentedCode(.serverTransient, "The token's use could not be recorded."),
        "7018": DocumentedCode(
            .forbidden, "The token is for another system.", "Put FairPlay into the drm_type of the token."),
        "7019": DocumentedCode(
            .unauthenticated, "The token's hash is wrong.", "Make the hash with the access key of this site."),
        "7300": DocumentedCode(
            .serverPermanent, "The site's FairPlay certificate could not be decrypted.",
            "Register the FairPlay certificate for the site anew."),
        "7301": DocumentedCode(
            .notFound, "The site has no FairPlay.",
            "Register the FairPlay certificate for the site in DoveRunner's console."),
        "7302": DocumentedCode(
            .serverPermanent, "The site has no private key for FairPlay.",
            "Register the FairPlay certificate with its private key in DoveRunner's console."),
        "7303": DocumentedCode(
            .serverPermanent, "The site's FairPlay key is not valid.",
            "Register the FairPlay certificate's key anew in DoveRunner's console."),
        "7304": DocumentedCode(.serverTransient, "The FairPlay license could not be made."),
        "7305": DocumentedCode(.invalidRequest, "The request has no SPC.", "Send the SPC as spc of a form."),
        "7306": DocumentedCode(.invalidRequest, "The SPC names no device."),
        "7308": DocumentedCode(
            .invalidRequest, "The SPC names no valid asset.",
            "Choose the profile variant whose content-id rule fits the key URIs."),
        "7315": DocumentedCode(.serverTransient, "The certificate could not be read."),
        "7316": DocumentedCode(
            .invalidRequest, "The SPC could not be decrypted.",
            "Ship the application certificate that is registered for the site."),
        "7317": DocumentedCode(
            .invalidRequest, "The SPC is not valid.",
            "Send the SPC in base64, percent-encoded, as it came from the player."),
        "8002": DocumentedCode(
            .forbidden, "Your own callback page refused.", "Look at the error that your callback page answered."),
        "8004": DocumentedCode(.unauthenticated, "The nonce is not valid."),
        "8006": DocumentedCode(
            .serverPermanent, "Your callback page answered no valid XML.", "Correct what your callback page answers."),
        "8701": DocumentedCode(
            .serverTransient, "The address of usage rules could not be reached.",
            "Check the server of your callback page."),
        "8705": DocumentedCode(
            .serverPermanent, "The address of usage rules is not valid.",
            "Correct the callback's address in DoveRunner's console."),
        "8706": DocumentedCode(
            .serverPermanent, "What the address of usage rules answered could not be decrypted.",
            "Encrypt the callback's answer with the site's key."),
        "8707": DocumentedCode(
            .invalidRequest, "The start or the end of playback is not valid.",
            "Correct the times in the token's policy.", newCredentials: true),
        "8708": DocumentedCode(
            .invalidRequest, "A time of playback has the wrong form.",
            "Write the times of the token's policy as the vendor's page has them.", newCredentials: true),
        "8709": DocumentedCode(
            .invalidRequest, "Playback ends before it starts.", "Correct the times in the token's policy.",
            newCredentials: true),
        "8710": DocumentedCode(
            .notYetValid, "Playback may not start yet.", "Ask again at the start that the token's policy states."),
        "8711": DocumentedCode(
            .forbidden, "The time of playback is over.",
            "Give a token whose policy ends later, if the viewer may still watch."),
        "8712": DocumentedCode(
            .invalidRequest, "The token's rule for HDCP is not valid.",
            "Correct hdcp_enforcement in the token's policy.", newCredentials: true),
        "8715": DocumentedCode(
            .invalidRequest, "The token's rule for CGMS-A is not valid.", "Correct the token's security policy.",
            newCredentials: true),
        "8716": DocumentedCode(
            .invalidRequest, "The token's rule for APS is not valid.", "Correct the token's security policy.",
            newCredentials: true),
        "9001": DocumentedCode(.invalidRequest, "A parameter is missing."),
        "9999": DocumentedCode(.invalidRequest, "The mode is not supported.", "Check the path of the address."),
    ]
}
