internal import COpenSSL
import Foundation
import LatchkeyCore

/// A certificate parsed by libcrypto.
// Sound because the certificate never changes after it is made; libcrypto locks its caches in it.
final class X509Certificate: @unchecked Sendable {
    private let certificate: OpaquePointer
    /// The length of the certificate in the parsed bytes.
    let encodedCount: Int

    /// - Parameter der: one DER certificate, optionally with trailing bytes; the result is `nil` for anything else.
    init?(der: [UInt8]) {
        let parsed = der.withUnsafeBufferPointer { buffer -> (OpaquePointer, Int)? in
            var cursor = buffer.baseAddress
            guard let start = buffer.baseAddress, let certificate = d2i_X509(nil, &cursor, buffer.count), let cursor
            else { return nil }
            return (certificate, cursor - start)
        }
        guard let parsed else {
            OpenSSLError.discardQueue()
            return nil
        }
        (certificate, encodedCount) = parsed
    }

    deinit { X509_free(certificate) }

    /// The subject in the text form of RFC 2253.
    var subject: String { text(of: X509_get_subject_name(certificate)) }

    /// The issuer in the text form of RFC 2253.
    var issuer: String { text(of: X509_get_issuer_name(certificate)) }

    /// The start of validity; `nil` if absent.
    var notBefore: Date? { date(of: X509_get0_notBefore(certificate)) }

    /// The end of validity; `nil` if absent.
    var notAfter: Date? { date(of: X509_get0_notAfter(certificate)) }

    /// Whether issuer and subject are equal and the certificate's own key signed it.
    var isSelfSigned: Bool {
        defer { OpenSSLError.discardQueue() }
        return X509_self_signed(certificate, 1) == 1
    }

    /// The size of the RSA modulus; `nil` for other keys.
    var rsaBits: Int? {
        withPublicKey { latchkey_is_rsa($0) == 1 ? Int(EVP_PKEY_get_bits($0)) : nil } ?? nil
    }

    /// Whether a private key belongs to the certificate.
    func matches(_ privateKey: RSAPrivateKey) -> Bool {
        defer { OpenSSLError.discardQueue() }
        return privateKey.withKey { X509_check_private_key(certificate, $0) == 1 }
    }

    /// Calls a closure with the public key. Returns `nil` if libcrypto does not know the key's type.
    func withPublicKey<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        defer { withExtendedLifetime(self) {} }
        guard let key = X509_get0_pubkey(certificate) else {
            OpenSSLError.discardQueue()
            return nil
        }
        return body(key)
    }

    /// The value of an extension, and whether it is critical; `nil` if absent.
    /// - Parameter oid: the object identifier in dotted form.
    func extensionValue(_ oid: String) -> (isCritical: Bool, value: [UInt8])? {
        defer { OpenSSLError.discardQueue() }
        guard let object = OBJ_txt2obj(oid, 1) else { return nil }
        defer { ASN1_OBJECT_free(object) }
        let position = X509_get_ext_by_OBJ(certificate, object, -1)
        guard position >= 0, let found = X509_get_ext(certificate, position),
            let data = X509_EXTENSION_get_data(found), let bytes = ASN1_STRING_get0_data(data)
        else { return nil }
        let value = [UInt8](UnsafeBufferPointer(start: bytes, count: Int(ASN1_STRING_length(data))))
        return (X509_EXTENSION_get_critical(found) == 1, value)
    }

    private func text(of name: OpaquePointer?) -> String {
        defer { OpenSSLError.discardQueue() }
        guard let name, let bio = MemoryBIO(), latchkey_print_name(bio.pointer, name) >= 0 else { return "" }
        return bio.text
    }

    private func date(of time: UnsafePointer<ASN1_TIME>?) -> Date? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else {
            OpenSSLError.discardQueue()
            return nil
        }
        return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }
}
