internal import CPKCS11
import LatchkeyCore

/// Why a key in a token cannot be used. Names places, never a PIN.
package struct PKCS11Error: DiagnosableError, Equatable {
    /// The kinds of failure. Names are stable.
    package enum Kind: String, Sendable, CaseIterable {
        /// The address is no `pkcs11:` URI, or one that holds a PIN or lacks what finds one key.
        case addressInvalid = "pkcs11AddressInvalid"
        /// The module cannot be loaded, or does not start.
        case moduleUnusable = "pkcs11ModuleUnusable"
        /// The module has no token of the name, or several.
        case tokenMissing = "pkcs11TokenMissing"
        /// No PIN, or one that cannot be read.
        case pinMissing = "pkcs11PINMissing"
        /// The token refused the PIN. It is not tried again.
        case pinRefused = "pkcs11PINRefused"
        /// The token is locked, or would lock itself at the next wrong PIN.
        case pinLocked = "pkcs11PINLocked"
        /// The token has no private RSA key of the name, or several.
        case objectMissing = "pkcs11ObjectMissing"
        /// The token does not decrypt by RSA-OAEP itself.
        case mechanismMissing = "pkcs11MechanismMissing"
        /// The key can leave the token, or may not decrypt.
        case objectUnsafe = "pkcs11ObjectUnsafe"
        /// The token does not answer, or fails.
        case unavailable = "pkcs11Unavailable"
    }

    /// What kind of failure it is.
    package let kind: Kind
    package let reason: String
    package let remedy: String

    package var code: String { kind.rawValue }

    init(_ kind: Kind, _ reason: String, remedy: String) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy
    }

    static func failed(_ call: String, _ result: CK_RV) -> Self {
        Self(
            .unavailable, "\(call) failed with \(name(of: result)).",
            remedy: "Check that the token is there and its service runs; the next license tries it again.")
    }

    /// A result's name in the standard, where an operator is likely to meet it; else its number.
    private static func name(of result: CK_RV) -> String {
        let names: [CK_RV: String] = [
            CKR_HOST_MEMORY: "CKR_HOST_MEMORY", CKR_GENERAL_ERROR: "CKR_GENERAL_ERROR",
            CKR_FUNCTION_FAILED: "CKR_FUNCTION_FAILED", CKR_DEVICE_ERROR: "CKR_DEVICE_ERROR",
            CKR_DEVICE_MEMORY: "CKR_DEVICE_MEMORY", CKR_DEVICE_REMOVED: "CKR_DEVICE_REMOVED",
            CKR_SESSION_COUNT: "CKR_SESSION_COUNT", CKR_SESSION_HANDLE_INVALID: "CKR_SESSION_HANDLE_INVALID",
            CKR_TOKEN_NOT_PRESENT: "CKR_TOKEN_NOT_PRESENT", CKR_USER_NOT_LOGGED_IN: "CKR_USER_NOT_LOGGED_IN",
            CKR_USER_PIN_NOT_INITIALIZED: "CKR_USER_PIN_NOT_INITIALIZED",
            CKR_CRYPTOKI_NOT_INITIALIZED: "CKR_CRYPTOKI_NOT_INITIALIZED",
        ]
        return names[result] ?? "0x" + String(result, radix: 16)
    }
}
