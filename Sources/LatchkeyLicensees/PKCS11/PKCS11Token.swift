internal import CPKCS11
import LatchkeyCore

/// A token to which this process logs in once, and opens sessions.
///
/// A PIN that a token refused is never tried again in this process, so that no loop locks the token.
///
/// Source: PKCS#11 2.40 base specification §5.6; `Documentation/LicenseServer.md` §8.3.
final class PKCS11Token: Sendable {
    let module: PKCS11Module
    let address: PKCS11Address
    private let pin: Secret

    init(_ address: PKCS11Address, pin: Secret) throws(LicenseeError) {
        guard pin.count > 0 else {
            throw LicenseeError(
                .pinMissing, "The PIN of token “\(address.token.onOneLine)” is empty.",
                remedy: "Write the PIN to pinFile.")
        }
        module = try PKCS11Module.at(address.module)
        self.address = address
        self.pin = pin
    }

    /// Opens a session in which the user is logged in. Finds the token again, which may be in a different slot.
    func session() throws(LicenseeError) -> PKCS11Session {
        let (slot, info) = try module.slot(of: address)
        var handle: CK_ULONG = 0
        let result = module.call(\.C_OpenSession) { $0(slot, CKF_SERIAL_SESSION, nil, nil, &handle) }
        guard result == CKR_OK else { throw .failed("C_OpenSession", result) }
        let session = PKCS11Session(module: module, slot: slot, handle: handle)
        do throws(LicenseeError) {
            try logIn(session, info)
            return session
        } catch {
            session.close()
            throw error
        }
    }

    /// Checks that the token decrypts OAEP itself. A token with only raw RSA would leave the padding to us, and attackers an oracle.
    func checkMechanism() throws(LicenseeError) {
        let slot = try module.slot(of: address).slot
        var info = CK_MECHANISM_INFO()
        let result = module.call(\.C_GetMechanismInfo) { $0(slot, CKM_RSA_PKCS_OAEP, &info) }
        guard result == CKR_OK, info.flags & CKF_DECRYPT != 0 else {
            throw LicenseeError(
                .mechanismMissing,
                "The token “\(address.token.onOneLine)” does not support RSA-OAEP decryption (CKM_RSA_PKCS_OAEP).",
                remedy:
                    "Use a token that does; raw RSA is not used, because its padding would be checked outside the token."
            )
        }
    }

    private func logIn(_ session: PKCS11Session, _ token: CK_TOKEN_INFO) throws(LicenseeError) {
        let attempted = PKCS11Module.RefusedPIN(token: address.token, serial: address.serial, pin: pin)
        let failure = module.refusals.withLock { refusals -> LicenseeError? in
            if let refusal = refusals[attempted] { return refusal }
            if session.isLoggedIn { return nil }
            let failure = attempt(session, token)
            if failure?.kind == .pinRefused { refusals[attempted] = failure }
            return failure
        }
        if let failure { throw failure }
    }

    private func attempt(_ session: PKCS11Session, _ token: CK_TOKEN_INFO) -> LicenseeError? {
        let name = "token “\(address.token.onOneLine)”"
        // A service manager that restarts a server with a wrong PIN would lock the token, one try at a time.
        if token.flags & (CKF_USER_PIN_LOCKED | CKF_USER_PIN_FINAL_TRY) != 0 {
            return LicenseeError(
                .pinLocked, "The \(name) is locked, or would lock after one more wrong PIN.",
                remedy:
                    "Log in once with `pkcs11-tool --login` and the right PIN, or have its security officer unlock it.")
        }
        let result = pin.withUnsafeBytes { pin in
            module.call(\.C_Login) {
                $0(session.handle, CKU_USER, pin.assumingMemoryBound(to: UInt8.self).baseAddress, CK_ULONG(pin.count))
            }
        }
        switch result {
        case CKR_OK, CKR_USER_ALREADY_LOGGED_IN: return nil
        case CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE, CKR_PIN_EXPIRED:
            return LicenseeError(
                .pinRefused, "The \(name) rejected the PIN, which is not tried again.",
                remedy:
                    "Correct the PIN and reload the configuration; the same PIN is only tried again after a restart.")
        case CKR_PIN_LOCKED:
            return LicenseeError(.pinLocked, "The \(name) is locked.", remedy: "Have its security officer unlock it.")
        default: return .failed("C_Login", result)
        }
    }
}
