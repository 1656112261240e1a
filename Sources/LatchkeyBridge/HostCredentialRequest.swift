#if canImport(AVFoundation)
    public import Foundation
    import Latchkey
    import LatchkeyCore
    import LatchkeyVendors

    /// A request for credentials, for code outside Swift.
    #if canImport(ObjectiveC)
        @objcMembers @objc(LatchkeyCredentialRequest)
    #endif
    public final class HostCredentialRequest: NSObject, Sendable {
        /// The reason for the request: `certificate`, `session`, `first`, `offline`, `renewal`, `retry`, or `rejected` if the
        /// service rejected the last credentials.
        public let reason: String
        /// The step that the request serves, such as `license` or `certificate`.
        public let stage: String
        /// `streaming`, `persistable` or `renewal`; `nil` if the request serves several keys.
        public let purpose: String?
        /// The key's URI; `nil` if the request serves several keys.
        public let keyURI: String?
        /// The app's name for the title; `nil` if unknown, or if the request serves several keys.
        public let title: String?
        /// All properties as a flat JSON object: `reason`, `stage`, and if known `purpose`, `key`, `title`.
        public let json: String

        init(_ request: Credentials.Request) {
            let reason =
                switch request.reason {
                case .certificate: "certificate"
                case .session: "session"
                case .first: "first"
                case .offline: "offline"
                case .renewal: "renewal"
                case .retry: "retry"
                case .rejected: "rejected"
                }
            (self.reason, stage, purpose) = (reason, request.stage.rawValue, request.purpose?.rawValue)
            (keyURI, title) = (request.key?.raw, request.asset?.rawValue)
            let members = ["reason": reason, "stage": stage, "purpose": purpose, "key": keyURI, "title": title]
            json = jsonText(members.compactMapValues { $0 })
        }
    }

    /// The answer to one request for credentials, which the host may give once, twice or never.
    package final class PendingCredentials: Sendable {
        package typealias Source = @Sendable (HostCredentialRequest, PendingCredentials) -> Void

        private let promise: Promise<CredentialSet, any Error>

        private init(_ promise: Promise<CredentialSet, any Error>) { self.promise = promise }

        deinit { promise.resolve(.failure(Self.unanswered)) }

        /// Accepts the answer; only the first one counts.
        /// - Returns: Whether this one counts.
        @discardableResult
        package func take(_ credentials: [String: String]?, _ error: (any Error)?) -> Bool {
            let given = credentials.map { CredentialSet($0.mapValues { Secret($0) }) }
            return promise.resolve(given.map(Result.success) ?? .failure(error ?? Self.unanswered))
        }

        /// Calls a closure after the request was answered or ended without an answer.
        func whenDone(_ call: @escaping @Sendable () -> Void) { promise.whenResolved { _ in call() } }

        /// Credentials from a host; none without a source.
        static func credentials(from source: Source?, on queue: DispatchQueue) -> Credentials {
            guard let source else { return .none }
            return Credentials { request in
                try await Promise.value { promise in
                    let pending = PendingCredentials(promise)
                    queue.async { source(HostCredentialRequest(request), pending) }
                }
            }
        }

        private static let unanswered = ContentKeyError(
            .credentialsFailed, "The host gave neither credentials nor an error.",
            remedy: "Answer each request for credentials with credentials or an error.")
    }
#endif
