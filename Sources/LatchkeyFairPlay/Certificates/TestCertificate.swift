internal import COpenSSL
import Foundation
import LatchkeyCore

/// Builds the self-signed certificate of the test credentials.
///
/// Source: `Documentation/FairPlay.md` §11, test credentials; RFC 5280 §4.1.
enum TestCertificate {
    /// - Returns: the certificate in DER form.
    static func make(for key: RSAPrivateKey, notBefore: Date) throws(OpenSSLError) -> [UInt8] {
        guard let certificate = X509_new() else { throw OpenSSLError(in: "X509_new") }
        defer { X509_free(certificate) }
        guard fill(certificate, notBefore: notBefore), addMarker(to: certificate), sign(certificate, with: key) else {
            throw OpenSSLError(in: "X509_sign")
        }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &bytes)
        guard count > 0, let bytes else { throw OpenSSLError(in: "i2d_X509") }
        defer { latchkey_free(bytes) }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    private static let tenYears = 3_652 * 24 * 60 * 60

    private static func fill(_ certificate: OpaquePointer, notBefore: Date) -> Bool {
        let organization = Array(TestMarker.organization.utf8)
        guard let name = X509_NAME_new() else { return false }
        defer { X509_NAME_free(name) }
        let start = time_t(saturating: notBefore.timeIntervalSince1970)
        return latchkey_x509_set_version3(certificate) == 1
            && setRandomSerial(certificate)
            && X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, organization, Int32(organization.count), -1, 0) == 1
            && X509_set_subject_name(certificate, name) == 1
            && X509_set_issuer_name(certificate, name) == 1
            && ASN1_TIME_set(X509_getm_notBefore(certificate), start) != nil
            && ASN1_TIME_set(X509_getm_notAfter(certificate), start + time_t(tenYears)) != nil
    }

    private static func setRandomSerial(_ certificate: OpaquePointer) -> Bool {
        var serial: UInt64 = 0
        let isDrawn = withUnsafeMutableBytes(of: &serial) { bytes in
            RAND_bytes(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(bytes.count)) == 1
        }
        return isDrawn && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1
    }

    private static func addMarker(to certificate: OpaquePointer) -> Bool {
        guard let object = OBJ_txt2obj(TestMarker.oid, 1) else { return false }
        defer { ASN1_OBJECT_free(object) }
        guard let data = ASN1_OCTET_STRING_new() else { return false }
        defer { ASN1_OCTET_STRING_free(data) }
        guard ASN1_OCTET_STRING_set(data, TestMarker.value, Int32(TestMarker.value.count)) == 1,
            let marker = X509_EXTENSION_create_by_OBJ(nil, object, 0, data)
        else { return false }
        defer { X509_EXTENSION_free(marker) }
        return X509_add_ext(certificate, marker, -1) == 1
    }

    private static func sign(_ certificate: OpaquePointer, with key: RSAPrivateKey) -> Bool {
        key.withKey { key in
            X509_set_pubkey(certificate, key) == 1 && X509_sign(certificate, key, EVP_sha256()) > 0
        }
    }
}
