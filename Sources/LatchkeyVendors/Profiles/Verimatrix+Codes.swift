import LatchkeyCore

/// The codes of Verimatrix: from 500 on those of authorization, from 1000 on those of FairPlay.
///
/// Source: `Documentation/Vendors/Verimatrix.md`, errors.
extension VendorProfile {
    static let verimatrixCodes: [String: DocumentedCode] = [
        "MDRM-500": DocumentedCode(.serverTransient, "Authorization failed inside.", status: 500),
        "MDRM-501": DocumentedCode(
            .unauthenticated, "The request has no token.",
            "Send the token in the header Authorization, without Bearer.", status: 401),
        "MDRM-502": DocumentedCode(
            .unauthenticated, "The token could not be decoded.", "Give a JWT as it was made, without Bearer.",
            status: 401),
        "MDRM-503": DocumentedCode(
            .forbidden, "The token's audience is none that its key signs for.",
            "Put the purpose of the signing key into the token's aud.", status: 403),
        "MDRM-504": DocumentedCode(
            .unauthenticated, "The key that the token names is not found.",
            "Put the id of a signing key into the token's header.", status: 401),
        "MDRM-505": DocumentedCode(.unauthenticated, "The token is not valid.", status: 401),
        "MDRM-506": DocumentedCode(.unauthenticated, "The key of the session's token is not found.", status: 401),
        "MDRM-507": DocumentedCode(
            .serverPermanent, "The token of the session could not be signed.",
            "Report the code to Verimatrix: the private key does not fit the public one.", status: 500),
        "MDRM-508": DocumentedCode(
            .unauthenticated, "The token has expired.", "Give a new token for each license request.", status: 401),
        "MDRM-509": DocumentedCode(
            .unauthenticated, "The token has no iat.",
            "Put the time of making into the token as iat, and sign with a key that is enabled.", status: 401),
        "MDRM-510": DocumentedCode(
            .notYetValid, "The token's iat lies in the future.", "Set the clock of the server that makes tokens.",
            status: 401),
        "MDRM-511": DocumentedCode(
            .notYetValid, "The token's nbf lies in the future.",
            "Set the clock of the server that makes tokens, or put an earlier nbf into them.", status: 401),
        "MDRM-512": DocumentedCode(
            .unauthenticated, "The signing key was deleted.", "Sign tokens with a key that exists at Verimatrix.",
            status: 401),
        "MDRM-513": DocumentedCode(
            .unauthenticated, "The signing key is disabled.", "Sign tokens with a key that is enabled at Verimatrix.",
            status: 401),
        "MDRM-1000": DocumentedCode(.serverTransient, "The FairPlay service failed inside.", status: 500),
        "MDRM-1001": DocumentedCode(
            .unauthenticated, "The license request has no token.",
            "Send the token in the header Authorization, without Bearer.", status: 401),
        "MDRM-1002": DocumentedCode(
            .unauthenticated, "The token could not be decoded.", "Give a JWT as it was made, without Bearer.",
            status: 401),
        "MDRM-1003": DocumentedCode(
            .notFound, "The organization's key is not found.", "Ask Verimatrix whether the organization is set up.",
            status: 404),
        "MDRM-1004": DocumentedCode(
            .invalidRequest, "The request has no SPC.", "Send the SPC as the member spc of a JSON document.",
            status: 400),
        "MDRM-1005": DocumentedCode(
            .notFound, "FairPlay is not provisioned for the organization.",
            "Upload the FairPlay certificate and its keys at Verimatrix.", status: 404),
        "MDRM-1006": DocumentedCode(
            .invalidRequest, "The SPC could not be decrypted.",
            "Ship the application certificate whose private key Verimatrix has.", status: 400),
        "MDRM-1007": DocumentedCode(
            .invalidRequest, "The SPC could not be parsed.", "Send the SPC in base64, as it came from the player.",
            status: 400),
        "MDRM-1008": DocumentedCode(
            .invalidRequest, "The SPC has no block SK..R1 that can be read.",
            "Ship the application certificate whose private key Verimatrix has.", status: 400),
        "MDRM-1009": DocumentedCode(.serverTransient, "The backend gave no key.", status: 500),
        "MDRM-1010": DocumentedCode(.serverTransient, "The content key could not be encrypted.", status: 500),
        "MDRM-1011": DocumentedCode(
            .notFound, "There is no key for this content.",
            "Check that the token's sub is the content id that was packaged, and that this account signed it.",
            status: 404),
        "MDRM-1012": DocumentedCode(.serverTransient, "The CKC could not be made.", status: 500),
        "MDRM-1013": DocumentedCode(
            .invalidRequest, "The SPC names no asset that can be read.",
            "Choose the profile variant whose content-id rule fits the key URIs.", status: 400),
        "MDRM-1014": DocumentedCode(
            .invalidRequest, "The key id or the subject is not valid.",
            "Check the key URI, and that the token's sub is its content id.", status: 400, newCredentials: true),
        "MDRM-1015": DocumentedCode(
            .serverTransient, "The backend did not give the key in time.",
            "Try again after the time that Retry-After states.", status: 503),
    ]
}
