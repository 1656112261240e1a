/// Where a secure session stands.
///
/// Source: `Documentation/Vendors/NAGRA.md` §2, state machine.
public enum SessionState: String, Sendable, Hashable, Codable, CaseIterable {
    /// There is no session.
    case off
    /// The app is asked for the credentials of a setup.
    case awaitingContentToken
    /// The service is asked to open a session.
    case setupRequested
    /// The session lives.
    case on
    /// A heartbeat, or the renewal of the license that takes its place, is under way.
    case renewalRequested
    /// The service is asked to end the session.
    case teardownRequested
    /// The setup failed, or the session could not be kept alive; playback has to stop.
    case error
}
