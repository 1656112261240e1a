import LatchkeyCore

/// The codes of the header `x-dt-resp-code`, but for those of other systems than FairPlay.
///
/// Source: `Documentation/Vendors/DRMtoday.md`, errors.
extension VendorProfile {
    static let drmTodayCodes = CodeTable(
        """
        1000 | serverTransient | DRMtoday failed inside.
        2000 | invalidRequest | The request is not valid.
        3000 | unauthenticated | The request is not authenticated. | Give a new upfront token, signed with the key of this merchant.
        10001 | invalidRequest | The request could not be read. | Send the SPC in base64, percent-encoded, as spc of a form.
        20101 | forbidden | The right is not granted. | Put a right for this asset into the token's crt.
        30000 | invalidRequest | A DRM system failed. | Report the code to castLabs with the time of the request.
        43000 | invalidRequest | FairPlay could not make a license. | Check that castLabs has the same application certificate.
        60000 | concurrencyLimit | The limit of streams refused.
        60001 | invalidRequest | The limit of streams got no valid request. | Check userId and sessionId of the custom data or the token.
        60100 | concurrencyLimit | The account plays as many streams as it may.
        70000 | forbidden | Output protection refused. | Loosen outputProtection in the token's right.
        70001 | forbidden | Output protection leaves no key for this device. | Loosen outputProtection in the token's right.
        80000 | forbidden | The content was taken down. | Ask castLabs, or the content's owner, why. | | sameCredentials
        80001 | forbidden | The content was taken down. | Ask castLabs, or the content's owner, why. | | sameCredentials
        90000 | regionDenied | The region is refused.
        90001 | regionDenied | Licenses are not given in this region.
        """)
}
