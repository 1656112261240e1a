import LatchkeyCore

/// The codes of DoveRunner, but for those of other systems than FairPlay.
///
/// Source: `Documentation/Vendors/DoveRunner.md`, errors.
extension VendorProfile {
    static let doveRunnerCodes = CodeTable(
        """
        1002 | forbidden | The trial's licenses or users are used up. | Ask DoveRunner for a plan, or for a longer trial. | | sameCredentials
        1003 | notFound | The site id is unknown. | Check the setting siteId, and the site_id of the token.
        1004 | forbidden | The site's service is stopped. | Ask DoveRunner to start the site's service. | | sameCredentials
        1005 | forbidden | The trial has ended. | Ask DoveRunner for a plan, or for a longer trial. | | sameCredentials
        1006 | serverPermanent | The site's key could not be decrypted. | Report the code to DoveRunner.
        2001 | serverTransient | The service's database could not be reached.
        2701 | serverTransient | The license could not be recorded.
        2702 | serverTransient | The refusal could not be recorded.
        7001 | notFound | The content was not packaged with this site. | Check that the key URI's content id is one that was packaged.
        7002 | serverTransient | The data for the address of usage rules could not be made.
        7006 | serverPermanent | The content key could not be decrypted. | Package the content again, or report the code to DoveRunner.
        7007 | unauthenticated | The custom data could not be parsed.
        7008 | unauthenticated | The custom data could not be decrypted.
        7009 | unauthenticated | The token could not be parsed. | Give the token's JSON in base64, as the vendor's page has it.
        7010 | unauthenticated | The request has no token. | Send the token as pallycon-customdata-v2.
        7011 | unauthenticated | The token has expired, or its time has not come yet. | Make the token right before the request, with its timestamp in UTC.
        7012 | forbidden | The token is for another content. | Put the key URI's content id into the token's cid.
        7013 | unauthenticated | The token's JSON is not valid.
        7016 | unauthenticated | The token is not valid.
        7017 | serverTransient | The token's use could not be recorded.
        7018 | forbidden | The token is for another system. | Put FairPlay into the drm_type of the token.
        7019 | unauthenticated | The token's hash is wrong. | Make the hash with the access key of this site.
        7300 | serverPermanent | The site's FairPlay certificate could not be decrypted. | Register the FairPlay certificate for the site anew.
        7301 | notFound | The site has no FairPlay. | Register the FairPlay certificate for the site in DoveRunner's console.
        7302 | serverPermanent | The site has no private key for FairPlay. | Register the FairPlay certificate with its private key in DoveRunner's console.
        7303 | serverPermanent | The site's FairPlay key is not valid. | Register the FairPlay certificate's key anew in DoveRunner's console.
        7304 | serverTransient | The FairPlay license could not be made.
        7305 | invalidRequest | The request has no SPC. | Send the SPC as spc of a form.
        7306 | invalidRequest | The SPC names no device.
        7308 | invalidRequest | The SPC names no valid asset. | Choose the profile variant whose content-id rule fits the key URIs.
        7315 | serverTransient | The certificate could not be read.
        7316 | invalidRequest | The SPC could not be decrypted. | Ship the application certificate that is registered for the site.
        7317 | invalidRequest | The SPC is not valid. | Send the SPC in base64, percent-encoded, as it came from the player.
        8002 | forbidden | Your own callback page refused. | Look at the error that your callback page answered.
        8004 | unauthenticated | The nonce is not valid.
        8006 | serverPermanent | Your callback page answered no valid XML. | Correct what your callback page answers.
        8701 | serverTransient | The address of usage rules could not be reached. | Check the server of your callback page.
        8705 | serverPermanent | The address of usage rules is not valid. | Correct the callback's address in DoveRunner's console.
        8706 | serverPermanent | The reply of the address of usage rules could not be decrypted. | Encrypt the callback's answer with the site's key.
        8707 | invalidRequest | The start or the end of playback is not valid. | Correct the times in the token's policy. | | newCredentials
        8708 | invalidRequest | A time of playback has the wrong form. | Write the times of the token's policy as the vendor's page has them. | | newCredentials
        8709 | invalidRequest | Playback ends before it starts. | Correct the times in the token's policy. | | newCredentials
        8710 | notYetValid | Playback may not start yet. | Ask again at the start that the token's policy states.
        8711 | forbidden | The time of playback is over. | Give a token whose policy ends later, if the viewer may still watch.
        8712 | invalidRequest | The token's rule for HDCP is not valid. | Correct hdcp_enforcement in the token's policy. | | newCredentials
        8715 | invalidRequest | The token's rule for CGMS-A is not valid. | Correct the token's security policy. | | newCredentials
        8716 | invalidRequest | The token's rule for APS is not valid. | Correct the token's security policy. | | newCredentials
        9001 | invalidRequest | A parameter is missing.
        9999 | invalidRequest | The mode is not supported. | Check the path of the address.
        """)
}
