public import Foundation
public import LatchkeyCore
public import StandInEngine

/// How a player gets a key out of an app: its own calls in its own order.
public protocol KeyHooks: Sendable {
    /// Everything up to the SPC.
    func makeSPC(for uri: KeyURI, with exchange: StandInExchange) async throws -> Data

    /// Has an SPC answered.
    func answer(_ spc: Data, for uri: KeyURI, with exchange: StandInExchange) async throws -> KeyAnswer

    /// A key that the app stored; nil unless it has one.
    func storedKey(for uri: KeyURI) async -> Data?

    /// The device does not take a stored key.
    func rejectStoredKey(for uri: KeyURI) async

    /// What the app has to store in place of a stored key, now that it plays.
    func replaceStoredKey(_ bytes: Data, for uri: KeyURI) async

    /// A key came.
    func didTakeKey(for uri: KeyURI, purpose: StandInPurpose) async

    /// What the player reports of a failure.
    func report(_ failure: KeyFailure) -> any Error
}

extension KeyHooks {
    public func storedKey(for uri: KeyURI) async -> Data? { nil }
    public func rejectStoredKey(for uri: KeyURI) async {}
    public func replaceStoredKey(_ bytes: Data, for uri: KeyURI) async {}
    public func didTakeKey(for uri: KeyURI, purpose: StandInPurpose) async {}
}

/// What an SPC was answered with.
public struct KeyAnswer: Sendable {
    /// The CKC.
    public let bytes: Data
    /// When the player asks again.
    public let renewal: Renewal

    /// When a player asks for a key again.
    public enum Renewal: Sendable, Hashable {
        /// Never.
        case never
        /// Once so much time has passed.
        case after(Duration)
        /// Once a part of the lease has passed; never without a lease.
        case ofLease(Double)
    }

    /// - Parameters:
    ///   - bytes: the CKC.
    ///   - renewal: when the player asks again.
    public init(_ bytes: Data, renewal: Renewal = .never) {
        self.bytes = bytes
        self.renewal = renewal
    }
}

/// Why a player has no key.
public enum KeyFailure: Error, Sendable {
    /// Nobody answers a call.
    case nobody(String)
    /// An answer was dropped.
    case unanswered(String)
    /// The key's URI is not one that the player can ask with.
    case uri(String)
    /// There is no content identifier.
    case contentIdentifier(NSError?)
    /// There is no certificate, for the HTTP status where one came.
    case certificate(NSError?, status: Int? = nil)
    /// The device makes no SPC.
    case spc(NSError)
    /// There is no license, for the HTTP status where one came.
    case license(NSError?, status: Int? = nil)
    /// The device does not take the license.
    case badLicense(NSError)
    /// The key may not start playback.
    case unusable(NSError)
    /// The player was torn down, or got another stream.
    case ended
    /// The system's media services ended.
    case mediaServicesReset

    /// The error beneath; nil where there is none.
    public var underlying: NSError? {
        switch self {
        case .contentIdentifier(let error), .certificate(let error, _), .license(let error, _): error
        case .spc(let error), .badLicense(let error), .unusable(let error): error
        case .mediaServicesReset: NSError(domain: "AVFoundationErrorDomain", code: -11819)
        case .nobody, .unanswered, .uri, .ended: nil
        }
    }

    /// The HTTP status; nil where none came.
    public var status: Int? {
        switch self {
        case .certificate(_, let status), .license(_, let status): status
        default: nil
        }
    }

    /// What happened, in a sentence.
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
    /// A player's error.
    /// - Parameters:
    ///   - domain: the player's.
    ///   - code: the player's.
    public convenience init(domain: String, code: Int, _ failure: KeyFailure) {
        var information: [String: Any] = [NSLocalizedDescriptionKey: failure.reason]
        information[NSUnderlyingErrorKey] = failure.underlying
        self.init(domain: domain, code: code, userInfo: information)
    }
}
