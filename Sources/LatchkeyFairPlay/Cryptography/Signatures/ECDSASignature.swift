internal import COpenSSL

/// The two forms of an ECDSA signature: r and s concatenated, as in JSON web tokens, and DER, as in libcrypto.
///
/// Source: RFC 7518 §3.4.
enum ECDSASignature {
    /// The DER form. The result is `nil` if libcrypto fails.
    /// - Parameter raw: r and s, of equal length.
    static func der(_ raw: [UInt8]) -> [UInt8]? {
        let half = raw.count / 2
        guard let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = Array(raw.prefix(half))
        let s = Array(raw.suffix(half))
        let numbers = (BN_bin2bn(r, Int32(half), nil), BN_bin2bn(s, Int32(half), nil))
        // On success the signature owns both.
        guard let first = numbers.0, let second = numbers.1, ECDSA_SIG_set0(signature, first, second) == 1 else {
            BN_free(numbers.0)
            BN_free(numbers.1)
            return nil
        }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(signature, &bytes)
        defer { latchkey_free(bytes) }
        guard count > 0, let bytes else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// r and s, each with leading zeros up to the length of a coordinate; `nil` if the bytes are not a DER signature.
    static func raw(_ der: [UInt8], coordinateCount: Int) -> [UInt8]? {
        let signature = der.withUnsafeBufferPointer { der in
            var cursor = der.baseAddress
            return d2i_ECDSA_SIG(nil, &cursor, der.count)
        }
        guard let signature else { return nil }
        defer { ECDSA_SIG_free(signature) }
        var bytes = [UInt8](repeating: 0, count: 2 * coordinateCount)
        let isWritten = bytes.withUnsafeMutableBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            let count = Int32(coordinateCount)
            return BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, count) == count
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + coordinateCount, count) == count
        }
        return isWritten ? bytes : nil
    }
}
