/// The state of a secure session.
///
/// Source: `Documentation/Vendors/NAGRA.md` §2, state machine.
public enum SessionState: String, Sendable, Hashable, Codable, CaseIterable {
    /// There is no session.
    case off
    /// The app is being asked for the credentials of a setup.
    case awaitingContentToken
    /// The service is being asked to open a session.
    case setupRequested
    /// The session is alive.
    case on
    /// A heartbeat, or the license renewal that replaces it, is pending.
    case renewalRequested
    /// The service is being asked to end the session.
    case teardownRequested
    /// The setup failed, or the session could not be kept alive; playback must stop.
    case error
}
