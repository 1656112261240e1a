import LatchkeyCore

/// The codes of Verimatrix: from 500 on those of authorization, from 1000 on those of FairPlay.
///
/// Source: `Documentation/Vendors/Verimatrix.md`, errors.
extension VendorProfile {
    static let verimatrixCodes = CodeTable(
        """
        MDRM-500 | serverTransient | Authorization failed inside. | | 500
        MDRM-501 | unauthenticated | The request has no token. | Send the token in the header Authorization, without Bearer. | 401
        MDRM-502 | unauthenticated | The token could not be decoded. | Give a JWT as it was made, without Bearer. | 401
        MDRM-503 | forbidden | The token's signing key is not for its audience. | Put the purpose of the signing key into the token's aud. | 403
        MDRM-504 | unauthenticated | The key that the token names is not found. | Put the id of a signing key into the token's header. | 401
        MDRM-505 | unauthenticated | The token is not valid. | | 401
        MDRM-506 | unauthenticated | The key of the session's token is not found. | | 401
        MDRM-507 | serverPermanent | The token of the session could not be signed. | Report the code to Verimatrix: the private key does not fit the public one. | 500
        MDRM-508 | unauthenticated | The token has expired. | Give a new token for each license request. | 401
        MDRM-509 | unauthenticated | The token has no iat. | Put the time of making into the token as iat, and sign with a key that is enabled. | 401
        MDRM-510 | notYetValid | The token's iat lies in the future. | Set the clock of the server that makes tokens. | 401
        MDRM-511 | notYetValid | The token's nbf lies in the future. | Set the clock of the server that makes tokens, or put an earlier nbf into them. | 401
        MDRM-512 | unauthenticated | The signing key was deleted. | Sign tokens with a key that exists at Verimatrix. | 401
        MDRM-513 | unauthenticated | The signing key is disabled. | Sign tokens with a key that is enabled at Verimatrix. | 401
        MDRM-1000 | serverTransient | The FairPlay service failed inside. | | 500
        MDRM-1001 | unauthenticated | The license request has no token. | Send the token in the header Authorization, without Bearer. | 401
        MDRM-1002 | unauthenticated | The token could not be decoded. | Give a JWT as it was made, without Bearer. | 401
        MDRM-1003 | notFound | The organization's key is not found. | Ask Verimatrix whether the organization is set up. | 404
        MDRM-1004 | invalidRequest | The request has no SPC. | Send the SPC as the member spc of a JSON document. | 400
        MDRM-1005 | notFound | FairPlay is not provisioned for the organization. | Upload the FairPlay certificate and its keys at Verimatrix. | 404
        MDRM-1006 | invalidRequest | The SPC could not be decrypted. | Ship the application certificate whose private key Verimatrix has. | 400
        MDRM-1007 | invalidRequest | The SPC could not be parsed. | Send the SPC in base64, as it came from the player. | 400
        MDRM-1008 | invalidRequest | The SPC has no block SK..R1 that can be read. | Ship the application certificate whose private key Verimatrix has. | 400
        MDRM-1009 | serverTransient | The backend gave no key. | | 500
        MDRM-1010 | serverTransient | The content key could not be encrypted. | | 500
        MDRM-1011 | notFound | There is no key for this content. | Check that the token's sub is the content id that was packaged, and that this account signed it. | 404
        MDRM-1012 | serverTransient | The CKC could not be made. | | 500
        MDRM-1013 | invalidRequest | The SPC names no asset that can be read. | Choose the profile variant whose content-id rule fits the key URIs. | 400
        MDRM-1014 | invalidRequest | The key id or the subject is not valid. | Check the key URI, and that the token's sub is its content id. | 400 | newCredentials
        MDRM-1015 | serverTransient | The backend did not give the key in time. | Try again after the time that Retry-After states. | 503
        """)
}
