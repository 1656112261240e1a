package import LatchkeyDecision
package import LatchkeyHTTP

extension AdmissionRefusal {
    /// The refusal for the caller, with 503.
    package var refusal: LicenseRefusal {
        why == .draining
            ? LicenseRefusal(
                .policy(.stopping), reason: "The server is shutting down.", retryAfter: .seconds(retryAfter))
            : LicenseRefusal(
                .overloaded, reason: LicenseRefusal.overloaded.reason, retryAfter: .seconds(retryAfter))
    }
}
