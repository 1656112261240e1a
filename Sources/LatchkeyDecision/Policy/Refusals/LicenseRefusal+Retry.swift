import LatchkeyFairPlay

/// Whether and when a refused request may succeed.
///
/// Source: `Documentation/LicenseServer.md` §6.4.
package enum RetryAdvice: String, Sendable, Hashable, CaseIterable {
    /// The same request is refused again.
    case never
    case withNewToken
    /// After the viewer ended another session, say.
    case afterViewerActs
    /// After a while.
    case later
}

extension LicenseRefusal {
    /// Whether and when the same request may succeed.
    package var retry: RetryAdvice {
        switch kind {
        case .tokenMissing, .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature: .withNewToken
        case .sessionLimit: .afterViewerActs
        case .overloaded, .spc(.keyUnavailable): .later
        case .policy(let objection):
            switch objection {
            case .rateLimit, .storeUnavailable, .stopping: .later
            default: .never
            }
        // A vendor's code with a waiting time.
        case .vendor where wait != nil: .later
        default: .never
        }
    }
}

extension LicenseRefusal.Kind {
    /// The section of a policy that refuses so; `nil` for a refusal by no policy.
    var section: Policy.Section? {
        switch self {
        case .tokenMissing, .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature, .tokenUsed,
            .notCovered:
            .token
        case .sessionLimit: .concurrency
        case .overloaded: .limits
        case .policy(let objection): objection.section
        default: nil
        }
    }
}
