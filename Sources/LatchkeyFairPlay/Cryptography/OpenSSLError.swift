internal import COpenSSL
import LatchkeyCore

/// A failed libcrypto call, with the contents of its error queue.
///
/// It means that libcrypto itself failed. Bad input has its own errors.
package struct OpenSSLError: DiagnosableError, Equatable {
    /// The call that failed.
    package let operation: String
    /// The entries of the thread's error queue, oldest first; they name functions and reasons, never data.
    package let entries: [String]

    package var code: String { "openssl" }
    package var reason: String {
        let details = entries.isEmpty ? "it gives no reason" : entries.joined(separator: "; ")
        return "libcrypto failed in \(operation): \(details)."
    }
    package var remedy: String { "Check the installed OpenSSL 3 and its configuration, and the free memory." }

    /// Empties the error queue, so that its entries are not attributed to the next failure.
    package init(in operation: String) {
        self.operation = operation
        var entries: [String] = []
        while true {
            let number = ERR_get_error()
            guard number != 0 else { break }
            entries.append(ERR_reason_error_string(number).map { String(cString: $0) } ?? "error \(number)")
        }
        self.entries = entries
    }

    /// Empties the error queue where the cause must stay secret.
    static func discardQueue() { ERR_clear_error() }
}
