internal import COpenSSL

/// A cipher context of libcrypto for one call. Its key schedule is erased when the value is destroyed.
struct CipherContext: ~Copyable {
    let pointer: OpaquePointer

    /// - Parameters:
    ///   - cipher: the fetched algorithm.
    ///   - direction: encrypt or decrypt.
    ///   - key: as long as the algorithm's key.
    ///   - iv: as long as the algorithm's IV.
    init(
        _ cipher: OpaquePointer?, _ direction: AESCBC.Direction, key: UnsafeRawBufferPointer, iv: [UInt8]
    ) throws(OpenSSLError) {
        guard let cipher, let context = EVP_CIPHER_CTX_new() else { throw OpenSSLError(in: "EVP_CIPHER_CTX_new") }
        guard key.count == Int(EVP_CIPHER_get_key_length(cipher)), iv.count == Int(EVP_CIPHER_get_iv_length(cipher)),
            EVP_CipherInit_ex2(
                context, cipher, key.bindMemory(to: UInt8.self).baseAddress, iv, direction.rawValue, nil) == 1
        else {
            EVP_CIPHER_CTX_free(context)
            throw OpenSSLError(in: "EVP_CipherInit_ex2 with \(key.count) bytes of key and \(iv.count) of IV")
        }
        pointer = context
    }

    deinit { EVP_CIPHER_CTX_free(pointer) }

    /// Adds bytes to authenticate without encrypting them.
    func authenticate(_ bytes: [UInt8]) -> Bool {
        var written: Int32 = 0
        return bytes.isEmpty || EVP_CipherUpdate(pointer, nil, &written, bytes, Int32(clamping: bytes.count)) == 1
    }

    /// Encrypts or decrypts the whole input and finishes the operation.
    /// - Parameter output: one block longer than the input.
    /// - Returns: the number of bytes written; `nil` if the padding or the tag is wrong.
    func finish(_ input: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) -> Int? {
        guard let target = output.bindMemory(to: UInt8.self).baseAddress, output.count >= input.count + 16,
            input.count <= Int(Int32.max) - 16
        else { return nil }
        var written: Int32 = 0
        var last: Int32 = 0
        let source = input.bindMemory(to: UInt8.self).baseAddress
        guard input.isEmpty || EVP_CipherUpdate(pointer, target, &written, source, Int32(input.count)) == 1,
            EVP_CipherFinal_ex(pointer, target + Int(written), &last) == 1
        else { return nil }
        return Int(written) + Int(last)
    }
}
