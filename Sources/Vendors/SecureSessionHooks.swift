public import LatchkeyCore

/// Whether licenses belong to a secure session with the vendor.
public enum SessionScope: String, Sendable, Hashable, Codable {
    /// There are no sessions.
    case never
    /// One session for the source that plays, from before its first license until it goes away.
    case source
}

/// A request about a secure session.
public enum SessionStep: String, Sendable, Hashable, Codable, CaseIterable {
    /// Opens the session.
    case setup
    /// Keeps it alive.
    case heartbeat
    /// Ends it.
    case teardown
}

/// What keeps a session alive, each time its period has passed.
public enum SessionRenewal: String, Sendable, Hashable, Codable {
    /// A heartbeat request.
    case heartbeat
    /// A renewal of the license, which the service then refuses where the session has ended.
    case enforced
}

/// What a session request may use.
public struct SessionContext: Sendable {
    /// What the session holds; empty for the setup.
    public var session: [String: Secret]
    /// An identifier that is new for every exchange.
    public var messageID: String
    /// Asks the app for credentials, fresh for this attempt; call it only when the request carries them.
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

/// What a service says about a session.
public struct SessionReply: Sendable, Hashable {
    /// The values to keep, such as `sessionToken`; each replaces the one of its name.
    public var values: [String: Secret]
    /// How often the session has to be kept alive; the setup's reply states it.
    public var period: Duration?

    /// Makes a reply.
    public init(values: [String: Secret] = [:], period: Duration? = nil) {
        self.values = values
        self.period = period
    }
}
