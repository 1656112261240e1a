public import LatchkeyCore
public import LatchkeyVendors

/// The loader's source of credentials for a request: the app's closure, called anew for every attempt.
///
/// Most license tokens live seconds and many answer one request only, so a token is never kept. One closure serves many titles, as it gets
/// the title and the key that a license is for:
///
///     .token { request in try await tokens.license(for: request.asset) }
public struct Credentials: Sendable {
    private let ask: @Sendable (Request) async throws -> CredentialSet

    /// - Parameter ask: returns the credentials for one attempt; called on no particular isolation.
    public init(_ ask: @escaping @Sendable (Request) async throws -> CredentialSet) { self.ask = ask }

    /// Credentials with one token, requested each time.
    public static func token(_ token: @escaping @Sendable (Request) async throws -> String) -> Self {
        Self { .token(try await token($0)) }
    }

    /// The same credentials every time; for tests and tools.
    public static func fixed(_ credentials: CredentialSet) -> Self { Self { _ in credentials } }

    /// No credentials.
    public static let none = Self.fixed(.none)

    /// A request for credentials.
    ///
    /// A request for several keys has no key, asset and purpose: the request for the application certificate, and a lookup that the vendor
    /// makes once for a loader. A secure session serves all keys of a source: it has no key, and the asset of the key that opened it.
    public struct Request: Sendable, Hashable {
        /// Why credentials are requested.
        public internal(set) var reason: Reason
        /// The step that the request serves: `lookup`, `certificate`, `license`, or `setup`, `heartbeat`, `teardown` of a session.
        public let stage: ContentKeyError.Stage
        /// The intended use of the key, also when the request is tried again; `nil` if the request serves several keys.
        public let purpose: KeyPurpose?
        /// The key's URI as the playlist states it; `nil` if the request serves several keys.
        public let key: KeyURI?
        /// The title that the app named where it protected or stored it; `nil` if it named none, or if the request serves several keys.
        public let asset: AssetID?

        /// Makes a request, as for a test of an app's closure.
        /// - Parameters:
        ///   - reason: why credentials are requested.
        ///   - stage: the step that the request serves. Defaults to the license.
        ///   - purpose: the intended use of the key. Defaults to `nil`: several keys.
        ///   - key: the key's URI. Defaults to `nil`: several keys.
        ///   - asset: the title. Defaults to `nil`: not known.
        public init(
            _ reason: Reason, stage: ContentKeyError.Stage = .license, purpose: KeyPurpose? = nil, key: KeyURI? = nil,
            asset: AssetID? = nil
        ) {
            self.reason = reason
            self.stage = stage
            self.purpose = purpose
            self.key = key
            self.asset = asset
        }
    }

    /// Why credentials are requested.
    public enum Reason: Sendable, Hashable {
        /// For the application certificate.
        case certificate
        /// To open a secure session, to keep it alive, or to end it.
        case session
        /// For the first license request of a key.
        case first
        /// For a key that will be stored.
        case offline
        /// To renew a key.
        case renewal
        /// To try again after an attempt that got no usable reply.
        case retry(attempt: Int)
        /// Because the service rejected the last ones with 401 or 403. Once per stage, and only if some were sent.
        case rejected
    }

    func callAsFunction(_ request: Request) async throws -> CredentialSet { try await ask(request) }
}

extension Credentials.Request {
    static let certificate = Self(.certificate, stage: .certificate)

    /// A request for credentials on behalf of one key.
    init(_ stage: ContentKeyError.Stage, of key: KeyURI, _ purpose: KeyPurpose, _ asset: AssetID?) {
        self.init(Credentials.Reason(purpose), stage: stage, purpose: purpose, key: key, asset: asset)
    }
}

extension Credentials.Reason {
    fileprivate init(_ purpose: KeyPurpose) {
        switch purpose {
        case .streaming: self = .first
        case .persistable: self = .offline
        case .renewal: self = .renewal
        }
    }
}
