public import Dispatch
public import Foundation
public import LatchkeyCore
public import StandInEngine

/// The key calls of JW Player in both generations: identifier, certificate and key. The app answers each with a completion
/// handler.
public final class CompletionHooks: KeyHooks {
    /// The answer to an SPC.
    public struct Reply: Sendable {
        /// The CKC; `nil` or empty if absent.
        public let license: Data?
        /// The date to renew the key.
        public let renewalDate: Date?
        /// The content type of the license.
        public let contentType: String?

        /// - Parameters:
        ///   - license: the CKC; `nil` or empty if absent.
        ///   - renewalDate: the date to renew the key.
        ///   - contentType: the content type of the license.
        public init(_ license: Data?, renewalDate: Date?, contentType: String?) {
            self.license = license
            self.renewalDate = renewalDate
            self.contentType = contentType
        }
    }

    /// The calls of a generation. Each records a missing delegate (`CallbackProbe.noteNobody()`).
    public struct Calls: Sendable {
        let names: (identifier: String, certificate: String, key: String)
        let identifier: (@Sendable (URL, SingleAnswer<Data?>) -> Void)?
        let certificate: @Sendable (URL, SingleAnswer<Data?>) -> Void
        let key: @Sendable (Data, SingleAnswer<Reply>) -> Void

        /// - Parameters:
        ///   - names: the names of the calls in the log.
        ///   - identifier: asks for the content identifier of a key's URL; `nil` if the player does not ask.
        ///   - certificate: asks for the application certificate.
        ///   - key: asks for the license of an SPC.
        public init(
            names: (identifier: String, certificate: String, key: String),
            identifier: (@Sendable (URL, SingleAnswer<Data?>) -> Void)?,
            certificate: @escaping @Sendable (URL, SingleAnswer<Data?>) -> Void,
            key: @escaping @Sendable (Data, SingleAnswer<Reply>) -> Void
        ) {
            self.names = names
            self.identifier = identifier
            self.certificate = certificate
            self.key = key
        }
    }

    private let calls: Calls
    private let queue: DispatchQueue
    private let stage: StandInStage
    private let errors: @Sendable (KeyFailure) -> any Error

    /// - Parameters:
    ///   - calls: makes the calls.
    ///   - queue: the queue of the calls.
    ///   - stage: the stage, which has the clock and the log.
    ///   - errors: translates a failure into the player's error.
    public init(
        _ calls: Calls, on queue: DispatchQueue, _ stage: StandInStage,
        errors: @escaping @Sendable (KeyFailure) -> any Error
    ) {
        self.calls = calls
        self.queue = queue
        self.stage = stage
        self.errors = errors
    }

    public func report(_ failure: KeyFailure) -> any Error { errors(failure) }

    /// Requests the content identifier of a key. A player without this call uses the key's URI (inferred).
    public func contentIdentifier(for uri: KeyURI) async throws -> Data? {
        let url = try Self.url(uri)
        guard let ask = calls.identifier else { return Data(uri.raw.utf8) }
        return try await stage.ask(calls.names.identifier, about: uri.raw, on: queue) { ask(url, $0) }?.flatMap(
            \.presence)
    }

    /// Asks for the application certificate.
    public func certificate(for uri: KeyURI) async throws -> Data? {
        let url = try Self.url(uri)
        return try await stage.ask(calls.names.certificate, about: uri.raw, on: queue) { [calls] in
            calls.certificate(url, $0)
        }?.flatMap(\.presence)
    }

    /// Asks for the license of an SPC. The call carries no URL.
    public func license(for spc: Data) async throws -> Reply? {
        let reply = try await stage.ask(calls.names.key, on: queue) { [calls] in calls.key(spc, $0) }
        if let reply, reply.renewalDate != nil, reply.contentType == nil {
            stage.log.note(.renewalDateWithoutType, calls.names.key)
        }
        return reply
    }

    public func makeSPC(for uri: KeyURI, with exchange: StandInExchange) async throws -> Data {
        guard let identifier = try await contentIdentifier(for: uri) else { throw KeyFailure.contentIdentifier(nil) }
        guard let certificate = try await certificate(for: uri) else { throw KeyFailure.certificate(nil) }
        do { return try exchange.makeSPC(certificate: certificate, contentIdentifier: identifier) } catch {
            throw KeyFailure.spc(error as NSError)
        }
    }

    public func answer(_ spc: Data, for uri: KeyURI, with exchange: StandInExchange) async throws -> KeyAnswer {
        let reply = try await license(for: spc)
        guard let reply, let license = reply.license?.presence else { throw KeyFailure.license(nil) }
        guard let date = reply.renewalDate, reply.contentType != nil else { return KeyAnswer(license) }
        let lead = date.timeIntervalSince(stage.timekeeper.date)
        return KeyAnswer(license, renewal: .after(Duration(clampingSeconds: max(0, lead)) ?? .zero))
    }

    private static func url(_ uri: KeyURI) throws -> URL {
        guard let url = URL(string: uri.raw) else { throw KeyFailure.uri(uri.raw) }
        return url
    }
}

extension Data {
    fileprivate var presence: Data? { isEmpty ? nil : self }
}
