internal import CPKCS11

extension LicenseeError {
    static func failed(_ call: String, _ result: CK_RV) -> Self {
        Self(
            .unavailable, "\(call) failed with \(name(of: result)).",
            remedy: "Check that the token is present and its service is running; the next license tries it again.")
    }

    /// A result's name in the standard, if an operator is likely to see it; else its number.
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
