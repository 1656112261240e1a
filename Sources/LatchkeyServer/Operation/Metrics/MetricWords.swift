/// A part of the work on a license of which the time is measured.
package enum LicenseStage: Int, Sendable, Hashable, CaseIterable {
    case token, key, open, policy, session, answer

    /// The name in metrics.
    package var name: String { "\(self)" }
}

/// How a request for a license ended.
package enum LicenseOutcome: String, Sendable, Hashable, CaseIterable {
    /// With a license.
    case granted
    /// Without one, as it was asked for: the end of a playback, for example.
    case acknowledged
    /// By the caller's fault or by policy; 4xx.
    case refused
    /// By the server's fault; 5xx.
    case failed
    /// At the door; 503.
    case shed
}

/// Where the content key of a license came from.
package enum KeyOrigin: String, Sendable, Hashable, CaseIterable {
    /// The store, for this license.
    case store
    /// Memory: read before, from a store that answers.
    case memory
    /// Memory: read before, from a store that does not answer now, so that it may be old.
    case stale
    /// The node's own copy, because the store does not answer.
    case copy
    /// Derivation: the store has no row of it, so that no packager ever got it here.
    case unlisted
}

/// Everything that the metrics keep of one request for a license.
package struct LicenseMeasurement: Sendable {
    package let tenant: String
    package let face: String
    /// `fairplay`, `clearkey`, `widevine` or `playready`.
    package let drm: String
    package let outcome: LicenseOutcome
    /// The refusal's code; empty for a license.
    package let reason: String
    /// From the whole request to the reply.
    package let duration: Duration
    /// The stages that were gone through.
    package let stages: [(stage: LicenseStage, duration: Duration)]

    package init(
        tenant: String, face: String, drm: String = "fairplay", outcome: LicenseOutcome, reason: String = "",
        duration: Duration, stages: [(stage: LicenseStage, duration: Duration)] = []
    ) {
        self.tenant = tenant
        self.face = face
        self.drm = drm
        self.outcome = outcome
        self.reason = reason
        self.duration = duration
        self.stages = stages
    }
}
