internal import COpenSSL
import LatchkeyCore

/// A public key that verifies signatures: RSA, Ed25519, or ECDSA on a NIST curve. Safe for concurrent use from any number of threads.
package struct PublicKey: Sendable {
    /// The type of the key.
    package enum Kind: Sendable, Hashable {
        /// RSA with a modulus of this size.
        case rsa(bits: Int)
        case elliptic(EllipticCurve)
        case ed25519
    }

    /// The numbers of a public key, big-endian.
    package enum Numbers: Sendable, Hashable {
        /// Both without leading zeros.
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// Both as long as a coordinate of the curve.
        case elliptic(EllipticCurve, x: [UInt8], y: [UInt8])
        /// 32 bytes, in the order of RFC 8032.
        case ed25519([UInt8])
    }

    let key: AsymmetricKey

    init(_ key: AsymmetricKey) { self.key = key }

    /// - Parameter pem: a `PUBLIC KEY` block.
    /// - Returns: `nil` for anything else and for other types of keys.
    package init?(pem: [UInt8]) {
        guard let bio = MemoryBIO(pem),
            let key = AsymmetricKey(adopting: PEM_read_bio_PUBKEY(bio.pointer, nil, { _, _, _, _ in -1 }, nil))
        else { return nil }
        self.init(key)
        if case .ed25519 = kind {
            guard case .ed25519(let bytes)? = try? numbers(), Ed25519Point.mayBeKey(bytes) else { return nil }
        }
    }

    /// - Parameter numbers: the key's numbers. RSA: at most 8,192 bits, and an odd exponent from 3 to 2⁶⁴−1. Ed25519: the
    ///   canonical encoding of a point that is not of small order.
    /// - Returns: `nil` unless the numbers form a valid key.
    package init?(_ numbers: Numbers) {
        let pointer: OpaquePointer?
        switch numbers {
        case .rsa(let modulus, let exponent):
            guard modulus.count <= 1_024, (1...8).contains(exponent.count), let last = exponent.last, last & 1 == 1,
                exponent.dropLast().contains(where: { $0 > 0 }) || last > 1
            else { return nil }
            pointer = latchkey_rsa_public(modulus, Int32(modulus.count), exponent, Int32(exponent.count))
        case .elliptic(let curve, let x, let y):
            guard x.count == curve.coordinateCount, y.count == x.count else { return nil }
            // 4: uncompressed, with both coordinates.
            let point = [4] + x + y
            pointer = latchkey_ec_public(curve.groupName, point, point.count)
        case .ed25519(let bytes):
            guard Ed25519Point.mayBeKey(bytes) else { return nil }
            pointer = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes, bytes.count)
        }
        guard let key = AsymmetricKey(adopting: pointer) else { return nil }
        self.init(key)
    }

    /// The type of the key.
    package var kind: Kind { key.kind }

    /// The key's numbers.
    package func numbers() throws(OpenSSLError) -> Numbers {
        switch kind {
        case .rsa:
            return .rsa(modulus: try number("n"), exponent: try number("e"))
        case .elliptic(let curve):
            var point = [UInt8](repeating: 0, count: 1 + 2 * curve.coordinateCount)
            var count = 0
            let isGood = key.withPointer {
                EVP_PKEY_get_octet_string_param($0, "pub", &point, point.count, &count) == 1
            }
            guard isGood, count == point.count, point.first == 4 else { throw OpenSSLError(in: "reading a point") }
            let coordinates = point.dropFirst()
            return .elliptic(
                curve, x: Array(coordinates.prefix(curve.coordinateCount)),
                y: Array(coordinates.suffix(curve.coordinateCount)))
        case .ed25519:
            var bytes = [UInt8](repeating: 0, count: 32)
            var count = bytes.count
            guard key.withPointer({ EVP_PKEY_get_raw_public_key($0, &bytes, &count) == 1 }), count == 32 else {
                throw OpenSSLError(in: "EVP_PKEY_get_raw_public_key")
            }
            return .ed25519(bytes)
        }
    }

    /// The key as a PEM block `PUBLIC KEY`.
    package func pem() throws(OpenSSLError) -> String {
        guard let bio = MemoryBIO(), key.withPointer({ PEM_write_bio_PUBKEY(bio.pointer, $0) == 1 }) else {
            throw OpenSSLError(in: "PEM_write_bio_PUBKEY")
        }
        return bio.text
    }

    /// Whether the private key made this signature of a message. `false` for a signature of any other length, such as one in
    /// DER, and for a scheme that the key cannot use.
    package func verifies(_ signature: [UInt8], of message: [UInt8], _ scheme: SignatureScheme) -> Bool {
        defer { OpenSSLError.discardQueue() }
        guard signature.count == key.signatureCount(scheme), let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        var wanted = signature
        if case .ecdsa = scheme {
            guard let encoded = ECDSASignature.der(signature) else { return false }
            wanted = encoded
        }
        return key.withPointer { pointer in
            var operation: OpaquePointer?
            let hash = scheme.hash?.algorithm
            guard scheme.hash == nil || hash != nil,
                EVP_DigestVerifyInit(context, &operation, hash, nil, pointer) == 1
            else { return false }
            if case .rsaPSS = scheme, latchkey_rsa_use_pss(operation, hash) != 1 { return false }
            return EVP_DigestVerify(context, wanted, wanted.count, message, message.count) == 1
        }
    }

    private func number(_ name: String) throws(OpenSSLError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 2_048)
        let count = key.withPointer { latchkey_key_number($0, name, &bytes, bytes.count) }
        guard count > 0 else { throw OpenSSLError(in: "EVP_PKEY_get_bn_param") }
        return Array(bytes.prefix(count))
    }
}
