public import LatchkeyCore

/// The function that turns an SPC's R2 and the application secret key into the key of its session bytes (DASk).
///
/// Apple gives the real one to licensees under agreement; a licensee plugs it in here. This project neither contains
/// nor describes it. Called on the caller's thread, from any number of threads at once.
///
/// Source: `fps-protocol.md` §11.
public protocol ApplicationSecretDerivation: Sendable {
    /// Derives the key.
    /// - Parameters:
    ///   - r2: 21 bytes of the SPC.
    ///   - credential: the credential that opened the SPC; its `applicationSecret` is the ASk, 16 bytes.
    /// - Returns: 16 bytes.
    /// - Throws: what keeps it from working, such as a `DerivationError`; becomes the refusal `integrity`.
    func derivedKey(r2: Secret, for credential: KeyServerCredential) throws -> Secret
}

/// Why a derivation gives no key.
public struct DerivationError: DiagnosableError, Equatable {
    /// The kinds of error. Names are stable.
    public enum Kind: String, Sendable {
        /// The credential has no application secret key.
        case noApplicationSecret
        /// The test derivation was asked to work for a certificate without the test marker.
        case notTestCertificate
        /// The derived key is not 16 bytes.
        case wrongLength
    }

    /// What kind of error it is.
    public let kind: Kind
    public let reason: String
    public let remedy: String
    public var code: String { kind.rawValue }

    /// The credential has no application secret key.
    public static let noApplicationSecret = DerivationError(
        kind: .noApplicationSecret, reason: "The credential has no application secret key.",
        remedy: "Put ask.hex beside the certificate.")

    static let notTestCertificate = DerivationError(
        kind: .notTestCertificate,
        reason: "InsecureTestDerivation works with this project's test certificates only. It is not Apple's function.",
        remedy: "Plug in the derivation of your own FairPlay agreement.")

    static func wrongLength(_ count: Int) -> DerivationError {
        DerivationError(
            kind: .wrongLength, reason: "The derived key has \(count) bytes, not 16.",
            remedy: "Have the derivation return 16 bytes.")
    }
}

/// A derivation that gives one fixed key, for published test vectors. Needs no application secret key.
public struct FixedDerivation: ApplicationSecretDerivation {
    private let key: Secret

    /// - Parameter dask: the key to give, 16 bytes.
    /// - Throws: `wrongLength`.
    public init(dask: Secret) throws(DerivationError) {
        guard dask.count == 16 else { throw .wrongLength(dask.count) }
        key = dask
    }

    public func derivedKey(r2: Secret, for credential: KeyServerCredential) -> Secret { key }
}
