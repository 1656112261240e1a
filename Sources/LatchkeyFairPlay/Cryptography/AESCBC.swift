internal import COpenSSL
import LatchkeyCore

/// AES-128 in CBC mode without padding, in place.
///
/// One context serves any number of keys in sequence. A single ECB block is a CBC block with a zero IV, so the protocol needs no
/// other cipher. The key schedule is erased when the value is destroyed.
package struct AESCBC: ~Copyable {
    /// The direction of a call.
    package enum Direction: Int32 {
        case decrypt = 0
        case encrypt = 1
    }

    private let context: OpaquePointer

    /// - Throws: an error if libcrypto has no AES or no memory.
    package init() throws(OpenSSLError) {
        guard let cipher = Self.cipher, let context = EVP_CIPHER_CTX_new() else {
            throw OpenSSLError(in: "EVP_CIPHER_CTX_new")
        }
        guard EVP_CipherInit_ex2(context, cipher, nil, nil, 1, nil) == 1,
            EVP_CIPHER_CTX_set_padding(context, 0) == 1
        else {
            EVP_CIPHER_CTX_free(context)
            throw OpenSSLError(in: "EVP_CipherInit_ex2")
        }
        self.context = context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// Encrypts or decrypts bytes in place.
    /// - Parameters:
    ///   - bytes: whole blocks of 16 bytes.
    ///   - key: 16 bytes.
    ///   - iv: the initialization vector. Defaults to zeros.
    package func apply(
        _ direction: Direction, to bytes: UnsafeMutableRawBufferPointer, key: UnsafeRawBufferPointer,
        iv: AESBlock = AESBlock()
    ) throws(OpenSSLError) {
        guard key.count == 16, bytes.count % 16 == 0, bytes.count <= Int(Int32.max) else {
            throw OpenSSLError(in: "AES with \(key.count) bytes of key and \(bytes.count) bytes of data")
        }
        guard begin(direction, key: key, iv: iv), update(bytes) else { throw OpenSSLError(in: "EVP_CipherUpdate") }
    }

    /// Encrypts or decrypts an array in place, from an index to the end.
    package func apply(
        _ direction: Direction, to bytes: inout [UInt8], from start: Int = 0, key: UnsafeRawBufferPointer,
        iv: AESBlock = AESBlock()
    ) throws(OpenSSLError) {
        guard 0...bytes.count ~= start else { throw OpenSSLError(in: "AES from byte \(start) of \(bytes.count)") }
        try bytes.withUnsafeMutableBufferPointer { bytes throws(OpenSSLError) in
            let rest = UnsafeMutableBufferPointer(rebasing: bytes[start...])
            try apply(direction, to: UnsafeMutableRawBufferPointer(rest), key: key, iv: iv)
        }
    }

    private func begin(_ direction: Direction, key: UnsafeRawBufferPointer, iv: AESBlock) -> Bool {
        let keyBytes = key.assumingMemoryBound(to: UInt8.self).baseAddress
        return withUnsafeBytes(of: iv.words) { iv in
            let ivBytes = iv.assumingMemoryBound(to: UInt8.self).baseAddress
            return EVP_CipherInit_ex2(context, nil, keyBytes, ivBytes, direction.rawValue, nil) == 1
        }
    }

    private func update(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return true }
        var written: Int32 = 0
        return EVP_CipherUpdate(context, start, &written, start, Int32(bytes.count)) == 1
            && Int(written) == bytes.count
    }

    // Fetched once, because each implicit fetch takes a lock. Sound because a fetched algorithm is immutable.
    nonisolated(unsafe) private static let cipher = EVP_CIPHER_fetch(nil, "AES-128-CBC", nil)
}

/// A public block of 16 bytes, such as an IV, without an allocation.
package struct AESBlock: Sendable, Hashable {
    fileprivate var words: Words

    fileprivate struct Words: Hashable {
        var first: UInt64 = 0
        var second: UInt64 = 0
    }

    /// Sixteen zeros.
    package init() { words = Words() }

    /// - Parameter bytes: 16 bytes. Missing bytes become zeros, and additional ones are ignored.
    package init(_ bytes: some Sequence<UInt8>) {
        var words = Words()
        withUnsafeMutableBytes(of: &words) { target in
            for (index, byte) in zip(target.indices, bytes) { target[index] = byte }
        }
        self.words = words
    }
}

extension AESBlock.Words: Sendable {}
