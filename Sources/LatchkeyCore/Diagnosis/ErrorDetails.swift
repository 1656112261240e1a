/// An exchange's error details besides code, reason and remedy.
package struct ErrorDetails: Sendable, Hashable {
    /// The stage at which it happened, such as `license`; `nil` before any.
    package var stage: String?
    /// Whether the same request may succeed later.
    package var isRetryable: Bool?
    /// The number of attempts.
    package var attempts: Int?
    /// The service's reply: the HTTP status, its own code, its own words, and the id under which its support finds the request.
    package var status: Int?
    package var vendorCode, vendorMessage, requestID: String?

    package init() {}
}

/// An error of an exchange with a service.
package protocol DetailedError: DiagnosableError {
    /// Its details besides its code, reason and remedy.
    var details: ErrorDetails { get }
}
