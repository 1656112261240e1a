internal import COpenSSL
import Foundation
import LatchkeyCore

/// A certificate as libcrypto parses it.
// Sound because the certificate is never changed once it is made; libcrypto locks what it caches in it.
final class X509Certificate: @unchecked Sendable {
    private let certificate: OpaquePointer
    /// How many of the bytes it was parsed from belong to it.
    let encodedCount: Int

    /// - Parameter der: one DER certificate, with or without more bytes behind it; nil for anything else.
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

    /// The subject in the order of RFC 2253.
    var subject: String { text(of: X509_get_subject_name(certificate)) }

    /// The issuer in the order of RFC 2253.
    var issuer: String { text(of: X509_get_issuer_name(certificate)) }

    /// When the certificate begins to be valid; nil where it states no date.
    var notBefore: Date? { date(of: X509_get0_notBefore(certificate)) }

    /// When the certificate ceases to be valid; nil where it states no date.
    var notAfter: Date? { date(of: X509_get0_notAfter(certificate)) }

    /// Whether issuer and subject are one and its own key signed it.
    var isSelfSigned: Bool {
        defer { OpenSSLError.discardQueue() }
        return X509_self_signed(certificate, 1) == 1
    }

    /// The size of the RSA modulus; nil for another kind of key.
    var rsaBits: Int? {
        withPublicKey { latchkey_is_rsa($0) == 1 ? Int(EVP_PKEY_get_bits($0)) : nil } ?? nil
    }

    /// Whether the certificate's key and a private key belong together.
    func matches(_ privateKey: RSAPrivateKey) -> Bool {
        defer { OpenSSLError.discardQueue() }
        return privateKey.withKey { X509_check_private_key(certificate, $0) == 1 }
    }

    /// Lends the public key for a call; nil where there is none that libcrypto knows.
    func withPublicKey<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        defer { withExtendedLifetime(self) {} }
        guard let key = X509_get0_pubkey(certificate) else {
            OpenSSLError.discardQueue()
            return nil
        }
        return body(key)
    }

    /// The value of an extension, whether critical or not; nil without one.
    /// - Parameter oid: in dotted form.
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
