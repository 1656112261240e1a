public import Foundation
public import LatchkeyCore
public import StandInEngine

/// A player's way to get a key from an app: its own calls in its own order.
public protocol KeyHooks: Sendable {
    /// Makes an SPC, with all calls that precede it.
    func makeSPC(for uri: KeyURI, with exchange: StandInExchange) async throws -> Data

    /// Gets an answer to an SPC.
    func answer(_ spc: Data, for uri: KeyURI, with exchange: StandInExchange) async throws -> KeyAnswer

    /// A key that the app stored; `nil` if absent.
    func storedKey(for uri: KeyURI) async -> Data?

    /// The device rejects a stored key.
    func rejectStoredKey(for uri: KeyURI) async

    /// The app must replace a stored key, because playback has started.
    func replaceStoredKey(_ bytes: Data, for uri: KeyURI) async

    /// A key has arrived.
    func didTakeKey(for uri: KeyURI, purpose: StandInPurpose) async

    /// The error that the player reports for a failure.
    func report(_ failure: KeyFailure) -> any Error
}

extension KeyHooks {
    public func storedKey(for uri: KeyURI) async -> Data? { nil }
    public func rejectStoredKey(for uri: KeyURI) async {}
    public func replaceStoredKey(_ bytes: Data, for uri: KeyURI) async {}
    public func didTakeKey(for uri: KeyURI, purpose: StandInPurpose) async {}
}

/// The answer to an SPC.
public struct KeyAnswer: Sendable {
    /// The CKC.
    public let bytes: Data
    /// The time at which the player requests the key again.
    public let renewal: Renewal

    /// The time at which a player requests a key again.
    public enum Renewal: Sendable, Hashable {
        /// Never.
        case never
        /// After a duration.
        case after(Duration)
        /// After a fraction of the lease; never without a lease.
        case ofLease(Double)
    }

    /// - Parameters:
    ///   - bytes: the CKC.
    ///   - renewal: the time at which the player requests the key again.
    public init(_ bytes: Data, renewal: Renewal = .never) {
        self.bytes = bytes
        self.renewal = renewal
    }
}

/// The reason that a player has no key.
public enum KeyFailure: Error, Sendable {
    /// A call has no handler.
    case nobody(String)
    /// The app released a completion handler without calling it.
    case unanswered(String)
    /// The player cannot use the key's URI.
    case uri(String)
    /// The content identifier is missing.
    case contentIdentifier(NSError?)
    /// The certificate is missing. Includes the HTTP status if known.
    case certificate(NSError?, status: Int? = nil)
    /// The device could not make an SPC.
    case spc(NSError)
    /// The license is missing. Includes the HTTP status if known.
    case license(NSError?, status: Int? = nil)
    /// The device rejected the license.
    case badLicense(NSError)
    /// Playback may not start with the key.
    case unusable(NSError)
    /// The player was stopped or got another stream.
    case ended
    /// The system reset its media services.
    case mediaServicesReset

    /// The underlying error; `nil` without one.
    public var underlying: NSError? {
        switch self {
        case .contentIdentifier(let error), .certificate(let error, _), .license(let error, _): error
        case .spc(let error), .badLicense(let error), .unusable(let error): error
        case .mediaServicesReset: NSError(domain: "AVFoundationErrorDomain", code: -11819)
        case .nobody, .unanswered, .uri, .ended: nil
        }
    }

    /// The HTTP status; `nil` if unknown.
    public var status: Int? {
        switch self {
        case .certificate(_, let status), .license(_, let status): status
        default: nil
        }
    }

    /// The failure, as a sentence.
    public var reason: String {
        switch self {
        case .nobody(let name): "Nobody takes \(name)."
        case .unanswered(let name): "\(name) was not answered."
        case .uri(let text): "The key's URI cannot be asked for: \(text)"
        case .contentIdentifier: "There is no content identifier."
        case .certificate(_, let status): "There is no certificate\(status.map { ", HTTP status \($0)" } ?? "")."
        case .spc: "The device makes no SPC."
        case .license(_, let status): "There is no license\(status.map { ", HTTP status \($0)" } ?? "")."
        case .badLicense: "The device does not take the license."
        case .unusable: "The key's time is over."
        case .ended: "The player has gone on to something else."
        case .mediaServicesReset: "The media services were reset."
        }
    }
}

extension NSError {
    /// Makes a player's error for a failure.
    /// - Parameters:
    ///   - domain: the player's error domain.
    ///   - code: the player's error code.
    public convenience init(domain: String, code: Int, _ failure: KeyFailure) {
        var information: [String: Any] = [NSLocalizedDescriptionKey: failure.reason]
        information[NSUnderlyingErrorKey] = failure.underlying
        self.init(domain: domain, code: code, userInfo: information)
    }
}
