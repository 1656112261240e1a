public import LatchkeyVendors

/// Where the loader gets the credentials of a request: a closure of the app's, called afresh for every attempt.
///
/// Most license tokens live seconds and many answer one request only, so a token is never kept.
public struct Credentials: Sendable {
    private let ask: @Sendable (Reason) async throws -> CredentialSet

    /// - Parameter ask: gives the credentials for one attempt; called on no particular isolation.
    public init(_ ask: @escaping @Sendable (Reason) async throws -> CredentialSet) { self.ask = ask }

    /// Credentials of one token, asked for each time.
    public static func token(_ token: @escaping @Sendable (Reason) async throws -> String) -> Self {
        Self { .token(try await token($0)) }
    }

    /// The same credentials every time; for tests and tools.
    public static func fixed(_ credentials: CredentialSet) -> Self { Self { _ in credentials } }

    /// No credentials.
    public static let none = Self.fixed(.none)

    /// Why credentials are asked for.
    public enum Reason: Sendable, Hashable {
        /// For the application certificate.
        case certificate
        /// To open a secure session.
        case session
        /// For the first license request of a key.
        case first
        /// For a key that is to be stored.
        case offline
        /// To renew a key.
        case renewal
        /// To try again after an attempt that got no usable reply.
        case retry(attempt: Int)
        /// Because the service rejected the last ones with 401 or 403. Once per stage, and only if some were sent.
        case rejected
    }

    func callAsFunction(_ reason: Reason) async throws -> CredentialSet { try await ask(reason) }
}

extension Credentials.Reason {
    init(_ purpose: KeyPurpose) {
        switch purpose {
        case .streaming: self = .first
        case .persistable: self = .offline
        case .renewal: self = .renewal
        }
    }
}
