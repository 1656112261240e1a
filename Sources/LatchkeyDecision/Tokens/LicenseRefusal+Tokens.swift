/// The refusals of the production server's tokens. They are vague enough to show to a stranger.
extension LicenseRefusal {
    /// A token that was refused, for whatever reason; 401.
    package static let tokenRefused = Self(
        .vendor(code: "tokenRefused", status: 401), reason: "The token was refused.", remedy: "Send a fresh token.")

    /// The operator's service does not answer, and policy does not continue without it; 503.
    package static let entitlementUnavailable = Self(
        .vendor(code: "entitlementUnavailable", status: 503), reason: "The operator's service does not answer.",
        remedy: "Try again shortly.")

    /// The operator's service says no; 403.
    package static let notEntitled = Self(
        .vendor(code: "notEntitled", status: 403), reason: "The operator's service does not grant this content.",
        remedy: "Ask the operator for access to the content.")

    /// The operator's service refuses the question about this viewer with another status than 403 and 404; 403.
    package static func notEntitled(_ status: Int) -> Self {
        Self(
            .vendor(code: "notEntitled", status: 403),
            reason: "The operator's service refuses this viewer and content with \(status).",
            remedy: "Ask the operator for access to the content.")
    }
}
