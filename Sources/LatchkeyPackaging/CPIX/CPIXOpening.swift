import Foundation
import LatchkeyCore
package import LatchkeyFairPlay

/// A recipient to which others encrypt keys: a certificate, and its private key.
package struct CPIXRecipient: Sendable {
    let fingerprint: [UInt8]
    let privateKey: RSAPrivateKey

    /// - Parameters:
    ///   - certificate: the certificate in DER, as senders have it.
    ///   - privateKey: its private key, which is not compared with it here.
    /// - Returns: `nil` unless it is a certificate with an RSA key of the same size.
    package init?(certificate: [UInt8], privateKey: RSAPrivateKey) {
        guard let read = RecipientCertificate(der: certificate), read.bits == privateKey.bits else { return nil }
        fingerprint = read.fingerprint
        self.privateKey = privateKey
    }
}

/// Opens the encrypted keys of a document. The MAC is always checked first.
///
/// Source: `Documentation/LicenseServer.md` §2.5 and §3.
struct CPIXOpening {
    private struct DocumentKey {
        /// The keys that it encrypts; `nil` for all.
        let kids: Set<KeyID>?
        let key: Secret
    }

    private let documentKeys: [DocumentKey]
    private let macKey: Secret?

    /// - Parameters:
    ///   - deliveries: each `DeliveryData`; other recipients' are ignored.
    ///   - recipients: our own recipients.
    init(_ deliveries: [XMLTree.Element], recipients: [CPIXRecipient]) throws(PackagingRefusal) {
        for (index, element) in deliveries.enumerated() {
            guard let recipient = Self.recipient(of: element, among: recipients) else { continue }
            let place = "DeliveryData \(index + 1)"
            macKey = try Self.macKey(element, recipient, place)
            documentKeys = try Self.documentKeys(element, recipient, macKey, place)
            return
        }
        macKey = nil
        documentKeys = []
    }

    /// The content key in a `Secret`.
    func contentKey(_ kid: KeyID, in secret: XMLTree.Element, at place: String) throws(PackagingRefusal) -> Secret {
        let named = documentKeys.first { $0.kids?.contains(kid) == true }
        guard let macKey, let documentKey = named ?? documentKeys.first(where: { $0.kids == nil }) else {
            throw .noRecipient(place)
        }
        let sealed = try Self.value(in: secret, CipherAlgorithm.aes256CBC, place)
        try Self.verify(sealed, of: secret, macKey, place)
        guard sealed.count >= 32 else { throw .cipher(place) }
        let opened: Secret?
        do {
            opened = try AES256CBC.decrypt(
                Array(sealed.dropFirst(16)), key: documentKey.key, iv: Array(sealed.prefix(16)))
        } catch { throw PackagingRefusal(error) }
        guard let opened else { throw .cipher(place) }
        return opened
    }

    private static func recipient(of element: XMLTree.Element, among all: [CPIXRecipient]) -> CPIXRecipient? {
        let data = element.first(path: [("DeliveryKey", .cpix), ("X509Data", .ds)])
        for certificate in data?.elements("X509Certificate", in: .ds) ?? [] {
            guard let der = Data(certificateInXML: certificate.text),
                let fingerprint = try? MessageDigest.sha256([UInt8](der))
            else { continue }
            if let found = all.first(where: { $0.fingerprint == fingerprint }) { return found }
        }
        return nil
    }

    private static func macKey(
        _ element: XMLTree.Element, _ recipient: CPIXRecipient, _ place: String
    ) throws(PackagingRefusal) -> Secret {
        guard let method = element.first("MACMethod", in: .cpix), let key = method.first("Key", in: .cpix) else {
            throw .macMissing("\(place)/MACMethod")
        }
        guard method["Algorithm"] == CipherAlgorithm.hmacSHA512 else {
            throw .algorithm("\(place)/MACMethod", method["Algorithm"], CipherAlgorithm.hmacSHA512)
        }
        let sealed = try value(in: key, CipherAlgorithm.rsaOAEP, "\(place)/MACMethod")
        guard let opened = recipient.privateKey.decryptOAEP(sealed[...]), 32...128 ~= opened.count else {
            throw .notOpen("\(place)/MACMethod")
        }
        return opened
    }

    private static func documentKeys(
        _ element: XMLTree.Element, _ recipient: CPIXRecipient, _ macKey: Secret?, _ delivery: String
    ) throws(PackagingRefusal) -> [DocumentKey] {
        let place = "\(delivery)/DocumentKey"
        var keys: [DocumentKey] = []
        // One suffices for a document; more would cost as many private-key operations for one request.
        for key in element.elements("DocumentKey", in: .cpix).prefix(16) {
            guard key["Algorithm"] == nil || key["Algorithm"] == CipherAlgorithm.aes256CBC else {
                throw .algorithm(place, key["Algorithm"], CipherAlgorithm.aes256CBC)
            }
            guard let secret = key.first(path: [("Data", .cpix), ("Secret", .pskc)]) else {
                throw .valueMissing(place)
            }
            let sealed = try value(in: secret, CipherAlgorithm.rsaOAEP, place)
            if let macKey { try verify(sealed, of: secret, macKey, place) }
            guard let opened = recipient.privateKey.decryptOAEP(sealed[...]), opened.count == 32 else {
                throw .notOpen(place)
            }
            let kids = key["encryptsKey"].map { Set($0.split(separator: " ").compactMap { KeyID(uuid: String($0)) }) }
            keys.append(DocumentKey(kids: kids, key: opened))
        }
        return keys
    }

    private static func value(
        in element: XMLTree.Element, _ algorithm: String, _ place: String
    ) throws(PackagingRefusal) -> [UInt8] {
        guard let value = element.first("EncryptedValue", in: .pskc) else { throw .valueMissing(place) }
        let method = value.first("EncryptionMethod", in: .enc)
        guard method?["Algorithm"] == algorithm else { throw .algorithm(place, method?["Algorithm"], algorithm) }
        // OAEP with a hash other than SHA-1 states it inside its method.
        if let hash = method?.first("DigestMethod", in: .ds)?["Algorithm"], hash != CipherAlgorithm.sha1 {
            throw .algorithm(place, hash, CipherAlgorithm.sha1)
        }
        let text = value.first(path: [("CipherData", .enc), ("CipherValue", .enc)])?.text
        guard let bytes = text.flatMap({ Data(base64InXML: $0) }), bytes.count <= 4_096 else {
            throw .valueMissing(place)
        }
        return [UInt8](bytes)
    }

    private static func verify(
        _ sealed: [UInt8], of secret: XMLTree.Element, _ key: Secret, _ place: String
    ) throws(PackagingRefusal) {
        guard let written = secret.first("ValueMAC", in: .pskc).flatMap({ Data(base64InXML: $0.text) }) else {
            throw .macMissing("\(place)/ValueMAC")
        }
        let expected: [UInt8]
        do { expected = try MessageDigest.hmac(.sha512, key: key, sealed) } catch { throw PackagingRefusal(error) }
        guard Secret(written) == Secret(expected) else { throw .macWrong(place) }
    }
}
