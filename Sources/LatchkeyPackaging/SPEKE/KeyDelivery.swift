import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// Encrypted keys: a document key and a MAC key for one reply, encrypted to each recipient's certificate; content keys encrypted with the
/// one and authenticated with the other.
///
/// Source: `Documentation/LicenseServer.md` §2.5.
final class KeyDelivery {
    /// A `DeliveryData` and its certificate.
    struct Recipient {
        let element: XMLTree.Element
        let certificate: RecipientCertificate
    }

    /// The recipients in the order of the document.
    let recipients: [Recipient]
    private let documentKey: Secret
    private let macKey: Secret
    private var generator: any RandomNumberGenerator

    /// The maximum number of recipients in one document.
    private static let limit = 16

    /// - Parameters:
    ///   - elements: each `DeliveryData`, at least one.
    ///   - registered: the SHA-256 of the allowed certificates; none allows all.
    ///   - generator: the source of keys and IVs.
    init(
        _ elements: [XMLTree.Element], registered: Set<[UInt8]>, using generator: any RandomNumberGenerator
    ) throws(PackagingRefusal) {
        guard elements.count <= Self.limit else { throw .tooManyRecipients }
        var recipients: [Recipient] = []
        for element in elements {
            let certificate = try Self.certificate(of: element)
            guard registered.isEmpty || registered.contains(certificate.fingerprint) else { throw .unregistered }
            recipients.append(Recipient(element: element, certificate: certificate))
        }
        self.recipients = recipients
        self.generator = generator
        documentKey = Self.secret(32, &self.generator)
        macKey = Self.secret(64, &self.generator)
    }

    /// Writes a content key, encrypted, into a `Secret`.
    func write(_ key: Secret, to secret: XMLTree.Element) throws(OpenSSLError) {
        let iv = generator.bytes(16)
        let sealed = iv + (try AES256CBC.encrypt(key, key: documentKey, iv: iv))
        try write(sealed, algorithm: CipherAlgorithm.aes256CBC, to: secret)
    }

    /// Fills each `DeliveryData`.
    func fill() throws(OpenSSLError) {
        for recipient in recipients {
            let element = recipient.element
            for old in element.elements("DocumentKey", in: .cpix) + element.elements("MACMethod", in: .cpix) {
                element.remove(old)
            }
            let document = element.add("DocumentKey", in: .cpix)
            document["Algorithm"] = CipherAlgorithm.aes256CBC
            try write(
                recipient.certificate.encryptOAEP(documentKey), algorithm: CipherAlgorithm.rsaOAEP,
                to: document.add("Data", in: .cpix).add("Secret", in: .pskc))
            let method = element.add("MACMethod", in: .cpix)
            method["Algorithm"] = CipherAlgorithm.hmacSHA512
            try write(
                recipient.certificate.encryptOAEP(macKey), algorithm: CipherAlgorithm.rsaOAEP,
                to: method.add("Key", in: .cpix))
        }
    }

    private func write(_ sealed: [UInt8], algorithm: String, to element: XMLTree.Element) throws(OpenSSLError) {
        let value = element.add("EncryptedValue", in: .pskc)
        value.add("EncryptionMethod", in: .enc)["Algorithm"] = algorithm
        value.add("CipherData", in: .enc).add("CipherValue", in: .enc).text = sealed.base64
        let mac = try macKey.withUnsafeBytes { key throws(OpenSSLError) in
            try MessageDigest.hmacSHA512(key: key, sealed)
        }
        element.add("ValueMAC", in: .pskc).text = mac.base64
    }

    private static func certificate(of element: XMLTree.Element) throws(PackagingRefusal) -> RecipientCertificate {
        let found = element.first(path: [("DeliveryKey", .cpix), ("X509Data", .ds), ("X509Certificate", .ds)])
        guard let text = found?.text, let der = Data(certificateInXML: text),
            let certificate = RecipientCertificate(der: [UInt8](der)), certificate.bits <= 16_384
        else { throw .certificate }
        guard certificate.bits >= 2_048 else { throw .weakCertificate(certificate.bits) }
        return certificate
    }

    private static func secret(_ count: Int, _ generator: inout any RandomNumberGenerator) -> Secret {
        var bytes = generator.bytes(count)
        defer { erase(&bytes) }
        return Secret(bytes)
    }
}

/// The names of the algorithms that CPIX prescribes.
///
/// Source: `Documentation/LicenseServer.md` §2.5 and §3.
enum CipherAlgorithm {
    /// Content keys.
    static let aes256CBC = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
    /// The document key and the MAC key.
    static let rsaOAEP = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"
    /// The hash of RSA-OAEP, which its name implies.
    static let sha1 = "http://www.w3.org/2000/09/xmldsig#sha1"
    /// MACs.
    static let hmacSHA512 = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha512"
}

extension PackagingRefusal {
    fileprivate static let tooManyRecipients = Self(
        "Too many DeliveryData elements", status: 413, remedy: "Request keys for fewer recipients at a time.")
    fileprivate static let certificate = Self("DeliveryKey has no readable RSA certificate")
    fileprivate static let unregistered = Self(
        "The DeliveryKey's certificate is not registered", remedy: "Register the encryptor's certificate first.")
    fileprivate static func weakCertificate(_ bits: Int) -> Self {
        Self("The DeliveryKey's RSA key has \(bits) bits", remedy: "Use an RSA key of 2048 bits or more.")
    }
}
