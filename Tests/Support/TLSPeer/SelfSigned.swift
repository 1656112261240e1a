import CGnuTLS
package import Foundation

/// A self-signed certificate for `localhost` and its key, both as PEM text.
package struct SelfSigned: Sendable {
    package let certificate, privateKey: String
    /// The certificate, as a client sees it.
    package let der: Data

    /// - Parameters:
    ///   - days: how long it is valid from now on. With a negative number it expired that many days ago.
    ///   - isRSA: whether its key is one of RSA; otherwise of an elliptic curve.
    package init(days: Int = 60, isRSA: Bool = false) throws {
        var key: gnutls_x509_privkey_t?
        var made: gnutls_x509_crt_t?
        try TLSFailure.check(gnutls_x509_privkey_init(&key))
        defer { gnutls_x509_privkey_deinit(key) }
        try TLSFailure.check(gnutls_x509_crt_init(&made))
        defer { gnutls_x509_crt_deinit(made) }
        let kind = isRSA ? GNUTLS_PK_RSA : GNUTLS_PK_ECDSA
        let bits = isRSA ? 2_048 : gnutls_sec_param_to_pk_bits(kind, GNUTLS_SEC_PARAM_HIGH)
        try TLSFailure.check(gnutls_x509_privkey_generate(key, kind, bits, 0))
        let (now, serial) = (time(nil), [UInt8.random(in: 1...127)])
        for status in [
            gnutls_x509_crt_set_version(made, 3), gnutls_x509_crt_set_serial(made, serial, 1),
            gnutls_x509_crt_set_dn(made, "CN=localhost", nil), gnutls_x509_crt_set_key(made, key),
            gnutls_x509_crt_set_activation_time(made, now - 100 * 86_400),
            gnutls_x509_crt_set_expiration_time(made, now + days * 86_400 + 3_600),
            gnutls_x509_crt_sign2(made, made, key, GNUTLS_DIG_SHA256, 0),
        ] { try TLSFailure.check(status) }
        let text = { (bytes: Data) in String(decoding: bytes, as: UTF8.self) }
        certificate = text(try Self.bytes { gnutls_x509_crt_export(made, GNUTLS_X509_FMT_PEM, $0, $1) })
        der = try Self.bytes { gnutls_x509_crt_export(made, GNUTLS_X509_FMT_DER, $0, $1) }
        privateKey = text(try Self.bytes { gnutls_x509_privkey_export(key, GNUTLS_X509_FMT_PEM, $0, $1) })
    }

    private static func bytes(
        _ export: (UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>) -> Int32
    ) throws -> Data {
        var buffer = [UInt8](repeating: 0, count: 8_192)
        var count = buffer.count
        try TLSFailure.check(buffer.withUnsafeMutableBytes { export($0.baseAddress, &count) })
        return Data(buffer.prefix(count))
    }
}

/// GnuTLS's output.
package struct TLSFailure: Error {
    let text: String

    static func check(_ status: Int32) throws {
        guard status < 0 else { return }
        throw TLSFailure(text: gnutls_strerror(status).map { String(cString: $0) } ?? "\(status)")
    }
}
