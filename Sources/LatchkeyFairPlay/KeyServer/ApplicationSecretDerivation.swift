public import LatchkeyCore

/// The function that derives the key of an SPC's session bytes (DASk) from its R2 and the application secret key.
///
/// Apple gives the real function to licensees under agreement, and a licensee plugs it in here. This project neither contains
/// nor describes it. Runs on the caller's thread; must be safe for concurrent calls.
///
/// Source: `Documentation/FairPlay.md` §11.
public protocol ApplicationSecretDerivation: Sendable {
    /// Derives the key.
    /// - Parameters:
    ///   - r2: 21 bytes from the SPC.
    ///   - credential: the credential that opened the SPC. Its `applicationSecret` is the ASk, 16 bytes.
    /// - Returns: 16 bytes.
    /// - Throws: any error, such as `Diagnosis.noApplicationSecret`. It becomes the refusal `integrity`.
    func derivedKey(r2: Secret, for credential: KeyServerCredential) throws -> Secret
}

/// The reasons that a derivation gives no key.
extension Diagnosis {
    /// The credential has no application secret key.
    public static let noApplicationSecret = Diagnosis(
        code: "noApplicationSecret", reason: "The credential has no application secret key.",
        remedy: "Put ask.hex next to the certificate.")

    static let notTestCertificate = Diagnosis(
        code: "notTestCertificate",
        reason: "InsecureTestDerivation works with this project's test certificates only. It is not Apple's function.",
        remedy: "Plug in the derivation of your own FairPlay agreement.")

    static func wrongLength(_ count: Int) -> Diagnosis {
        Diagnosis(
            code: "wrongLength", reason: "The derived key has \(count) bytes, not 16.",
            remedy: "Make the derivation return 16 bytes.")
    }
}

/// A derivation that always returns the same key, for published test vectors. Needs no application secret key.
package struct FixedDerivation: ApplicationSecretDerivation {
    private let key: Secret

    /// - Parameter dask: the key, 16 bytes.
    /// - Throws: `wrongLength`.
    package init(dask: Secret) throws(Diagnosis) {
        guard dask.count == 16 else { throw .wrongLength(dask.count) }
        key = dask
    }

    package func derivedKey(r2: Secret, for credential: KeyServerCredential) -> Secret { key }
}
