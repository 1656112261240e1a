import LatchkeyDecision

/// A measured part of the work on a license.
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
    /// Before it was read; 503.
    case shed

    /// Converts the outcome of a request.
    package init(_ outcome: RequestOutcome) {
        switch outcome {
        case .license: self = .granted
        case .ok, .acknowledge: self = .acknowledged
        case .refused(let refusal) where refusal.kind == .overloaded: self = .shed
        case .refused(let refusal): self = refusal.status < 500 ? .refused : .failed
        }
    }
}
