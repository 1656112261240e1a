package import Foundation
package import LatchkeyCore
import LatchkeyFairPlay

extension CPIXRecipient {
    /// Reads certificate and key, and checks that the key opens data encrypted to the certificate.
    /// - Parameters:
    ///   - certificate: in DER or PEM form, with an RSA key of at least 2,048 bits.
    ///   - pem: the private key in PEM form.
    /// - Throws: `recipientInvalid` if the two do not belong together.
    package init(certificate: Data, pem: Secret) throws {
        guard let key = pem.withUnsafeBytes({ RSAPrivateKey(pem: Array($0)) }) else {
            throw Diagnosis.recipient(
                "The private key is not an RSA key in PEM form.", "Write the key with openssl rsa.")
        }
        let isPEM = certificate.starts(with: Array("-----BEGIN".utf8))
        let text = isPEM ? Data(certificateInXML: String(decoding: certificate, as: UTF8.self)) : nil
        let der = [UInt8](text ?? certificate)
        guard let read = RecipientCertificate(der: der), read.bits >= 2_048 else {
            throw Diagnosis.recipient(
                "The certificate is not in DER or PEM form with an RSA key of at least 2,048 bits.",
                "Write it with openssl x509.")
        }
        let probe = Secret.random(32)
        guard let recipient = CPIXRecipient(certificate: der, privateKey: key),
            key.decryptOAEP(try read.encryptOAEP(probe)[...]) == probe
        else {
            throw Diagnosis.recipient(
                "The certificate and the private key do not match.", "Use the certificate's private key.")
        }
        self = recipient
    }
}

extension Diagnosis {
    fileprivate static func recipient(_ reason: String, _ remedy: String) -> Diagnosis {
        Diagnosis(code: "recipientInvalid", reason: reason, remedy: remedy)
    }
}
