internal import CPKCS11
import LatchkeyCore
import LatchkeyFairPlay

/// A session with a token. One thread uses it at a time.
struct PKCS11Session: Sendable {
    let module: PKCS11Module
    let slot: CK_ULONG
    let handle: CK_ULONG

    /// Ends the session. Only for a session that the token still has: a lost one's number may belong to another.
    func close() { _ = module.call(\.C_CloseSession) { $0(handle) } }

    var isLoggedIn: Bool {
        var info = CK_SESSION_INFO()
        guard module.call(\.C_GetSessionInfo, { $0(handle, &info) }) == CKR_OK else { return false }
        return info.state == CKS_RO_USER_FUNCTIONS || info.state == CKS_RW_USER_FUNCTIONS
    }

    /// The only private RSA key with the address's label and identifier.
    func privateKey(_ address: PKCS11Address) throws(LicenseeError) -> CK_ULONG {
        var found = [CK_ULONG](repeating: 0, count: 2)
        var count: CK_ULONG = 0
        let result = withTemplate(of: address) { template in
            let started = module.call(\.C_FindObjectsInit) {
                $0(handle, template.baseAddress, CK_ULONG(template.count))
            }
            guard started == CKR_OK else { return started }
            defer { _ = module.call(\.C_FindObjectsFinal) { $0(handle) } }
            return module.call(\.C_FindObjects) { $0(handle, &found, CK_ULONG(found.count), &count) }
        }
        guard result == CKR_OK else { throw .failed("C_FindObjects", result) }
        guard let key = found.first, count == 1 else {
            throw LicenseeError(
                .objectMissing, "There \(count == 0 ? "is no" : "are several") private RSA \(address).",
                remedy:
                    "Compare with `pkcs11-tool --module FILE --login --list-objects --type privkey`, and specify object and id."
            )
        }
        return key
    }

    /// A Boolean attribute of an object; `nil` if the token does not return it.
    func flag(_ attribute: CK_ULONG, of object: CK_ULONG) -> Bool? {
        var value: UInt8 = 0
        let result = withUnsafeMutableBytes(of: &value) { bytes in
            var wanted = CK_ATTRIBUTE(type: attribute, pValue: bytes.baseAddress, ulValueLen: 1)
            return module.call(\.C_GetAttributeValue) { $0(handle, object, &wanted, 1) }
        }
        return result == CKR_OK ? value != 0 : nil
    }

    /// Decrypts OAEP with SHA-1 for hash and mask and an empty label.
    /// - Parameter count: the size of the modulus in bytes; no plaintext is longer.
    func decryptOAEP(_ wrapped: ArraySlice<UInt8>, key: CK_ULONG, count room: Int) -> Outcome {
        var parameters = CK_RSA_PKCS_OAEP_PARAMS()
        parameters.hashAlg = CKM_SHA_1
        parameters.mgf = CKG_MGF1_SHA1
        parameters.source = CKZ_DATA_SPECIFIED
        let started = withUnsafeMutableBytes(of: &parameters) { parameters in
            var mechanism = CK_MECHANISM(
                mechanism: CKM_RSA_PKCS_OAEP, pParameter: parameters.baseAddress,
                ulParameterLen: CK_ULONG(parameters.count))
            return module.call(\.C_DecryptInit) { $0(handle, &mechanism, key) }
        }
        guard started == CKR_OK else { return Outcome(started) ?? .unavailable(.failed("C_DecryptInit", started)) }
        let plain = ErasedBytes(count: room)
        var count = CK_ULONG(room)
        let result = wrapped.withUnsafeBufferPointer { wrapped in
            plain.write(0..<room) { plain in
                module.call(\.C_Decrypt) {
                    $0(
                        handle, wrapped.baseAddress, CK_ULONG(wrapped.count),
                        plain.assumingMemoryBound(to: UInt8.self).baseAddress, &count)
                }
            }
        }
        // Tokens report wrong bytes differently: CKR_ENCRYPTED_DATA_INVALID, CKR_GENERAL_ERROR and more. All are alike to the caller.
        guard result == CKR_OK, count <= CK_ULONG(room) else { return Outcome(result) ?? .refused }
        return .opened(plain.read(0..<Int(count)) { Secret($0) })
    }

    /// The result of a decryption.
    enum Outcome {
        case opened(Secret)
        /// The key does not open the bytes.
        case refused
        /// The session is lost, and probably every other; a new one may work.
        case lost(LicenseeError)
        /// The session exists, but its login or the key's number does not; a new one may have them.
        case stale(LicenseeError)
        case unavailable(LicenseeError)

        /// - Returns: `nil` for a result that says nothing about the session or the token.
        fileprivate init?(_ result: CK_RV) {
            switch result {
            case CKR_SESSION_HANDLE_INVALID, CKR_SESSION_CLOSED, CKR_DEVICE_REMOVED, CKR_TOKEN_NOT_PRESENT:
                self = .lost(.failed("C_Decrypt", result))
            case CKR_USER_NOT_LOGGED_IN, CKR_KEY_HANDLE_INVALID, CKR_OBJECT_HANDLE_INVALID, CKR_OPERATION_ACTIVE,
                CKR_OPERATION_NOT_INITIALIZED:
                self = .stale(.failed("C_Decrypt", result))
            case CKR_DEVICE_ERROR, CKR_DEVICE_MEMORY, CKR_HOST_MEMORY, CKR_TOKEN_NOT_RECOGNIZED, CKR_SLOT_ID_INVALID,
                CKR_CRYPTOKI_NOT_INITIALIZED, CKR_FUNCTION_CANCELED:
                self = .unavailable(.failed("C_Decrypt", result))
            default: return nil
            }
        }
    }

    private func withTemplate(
        of address: PKCS11Address, _ body: (UnsafeBufferPointer<CK_ATTRIBUTE>) -> CK_RV
    ) -> CK_RV {
        var values: [(type: CK_ULONG, bytes: [UInt8])] = [
            (CKA_CLASS, withUnsafeBytes(of: CKO_PRIVATE_KEY) { Array($0) }),
            (CKA_KEY_TYPE, withUnsafeBytes(of: CKK_RSA) { Array($0) }),
        ]
        if let object = address.object { values.append((CKA_LABEL, Array(object.utf8))) }
        if let id = address.id { values.append((CKA_ID, id)) }
        // One buffer for all values, so that every pointer lives as long as the call.
        var bytes = values.flatMap(\.bytes)
        return bytes.withUnsafeMutableBytes { bytes in
            var offset = 0
            let template = values.map { value in
                defer { offset += value.bytes.count }
                return CK_ATTRIBUTE(
                    type: value.type, pValue: bytes.baseAddress?.advanced(by: offset),
                    ulValueLen: CK_ULONG(value.bytes.count))
            }
            return template.withUnsafeBufferPointer(body)
        }
    }
}
