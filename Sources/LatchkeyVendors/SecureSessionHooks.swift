public import LatchkeyCore

/// Whether licenses belong to a secure session with the vendor.
@_spi(Integrations) public enum SessionScope: String, Sendable, Hashable, Codable {
    /// There are no sessions.
    case never
    /// One session for each source, from before its first license until the source is released.
    case source
    /// As `source`, but there is no setup: a license of the source opens it, if the license has the session's values.
    case license
}

/// A request about a secure session.
@_spi(Integrations) public enum SessionStep: String, Sendable, Hashable, Codable, CaseIterable {
    /// Opens the session.
    case setup
    /// Keeps it alive.
    case heartbeat
    /// Ends it.
    case teardown
}

/// The mechanism that keeps a session alive when its period has passed.
@_spi(Integrations) public enum SessionRenewal: String, Sendable, Hashable, Codable {
    /// A heartbeat request.
    case heartbeat
    /// A renewal of the license, which the service refuses if the session has ended.
    case enforced
}

/// The input of a session request.
@_spi(Integrations) public struct SessionContext: Sendable {
    /// The values of the session; empty for the setup.
    public var session: [String: Secret]
    /// An identifier, new for every exchange.
    public var messageID: String
    /// Asks the app for fresh credentials for this attempt. Call it only if the request carries them.
    public var credentials: @Sendable () async throws -> CredentialSet

    /// Makes a context.
    public init(
        session: [String: Secret] = [:], messageID: String = "",
        credentials: @escaping @Sendable () async throws -> CredentialSet = { .none }
    ) {
        self.session = session
        self.messageID = messageID
        self.credentials = credentials
    }
}

/// A service's reply about a session.
@_spi(Integrations) public struct SessionReply: Sendable, Hashable {
    /// The values to keep, such as `sessionToken`. Each replaces the value of the same name.
    public var values: [String: Secret]
    /// The time between two heartbeats, in the reply to the setup or in a license; `nil` for no heartbeats.
    public var period: Duration?

    /// Makes a reply.
    public init(values: [String: Secret] = [:], period: Duration? = nil) {
        self.values = values
        self.period = period
    }
}
