public import Foundation
import LatchkeyCore

/// The application certificate as a client handles it: bytes that it passes on to the player.
///
/// Public data, sent in clear. An X.509 certificate in DER form, perhaps followed by a bundle, or a certificate bundle
/// (`fps_certificate….bin`), whose format is not public. Therefore only data that is recognizably something else is refused.
///
/// Source: `Documentation/FairPlay.md` §12, `Documentation/Players.md` §3.13.
public struct ApplicationCertificate: Sendable, Hashable {
    /// The bytes, as the player wants them: a certificate in DER form, or a bundle.
    public let bytes: Data
    /// The form in which it was received, such as base64 text of a certificate.
    package let form: Recognition

    /// The format of bytes that do not begin with a certificate, such as `data of no known form (1432 bytes)` for a bundle; `nil` if they
    /// do. Worth a warning only.
    package var unrecognizedFormat: String? {
        form.core == .certificate || form.isPEM && !form.holdsPrivateKey ? nil : form.described(bytes)
    }

    /// - Parameter bytes: a certificate in DER form, or a certificate bundle.
    /// - Throws: `IntegrationError` `certificateMalformed` for bytes that are recognizably something else. The reason names it: nothing, a
    ///   web page, JSON, XML, PEM, text, an encoding, PKCS#12, a private key, an SPC, a certificate that is cut off, and others.
    public init(_ bytes: Data) throws(IntegrationError) {
        let found = Recognition(bytes)
        try self.init(bytes, found, form: found, in: bytes, from: nil)
    }

    /// - Parameters:
    ///   - found: the recognized form of the bytes.
    ///   - form: the form of the reply, whose core is the certificate.
    ///   - reply: the received bytes.
    ///   - origin: where it came from; `nil` if only the caller knows.
    init(
        _ bytes: Data, _ found: Recognition, form: Recognition, in reply: Data, from origin: ValueOrigin?
    ) throws(IntegrationError) {
        guard found.mayBeCertificate(of: bytes.count) else {
            throw IntegrationError(
                .certificateMalformed, form.described(reply), inPlaceOf: "certificate", from: origin)
        }
        self.bytes = bytes
        self.form = form
    }
}

extension Recognition {
    /// Whether it is PEM text of a certificate.
    var isPEM: Bool { [.pem(label: "CERTIFICATE"), .pem(label: Self.certificateWithKey)].contains(self) }

    /// Whether bytes may be a certificate. A bundle's form is not public, so that data of no known form may be one, if it has more bytes
    /// than the modulus of the smallest key.
    fileprivate func mayBeCertificate(of count: Int) -> Bool {
        switch self {
        case .certificate, .bundle: true
        case .unknown: count >= 128
        default: false
        }
    }
}
