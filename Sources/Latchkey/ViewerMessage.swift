public import Foundation
import LatchkeyCore

/// A message to a viewer when a title does not play: a sentence or two without jargon, and the remedy.
///
///     if let message = error.viewerMessage { alert(message.localized()) }
///
/// The English text is used if an app's strings have no entry under `key`.
public enum ViewerMessage: String, Sendable, Hashable, Codable, CaseIterable {
    /// The sign-in has expired.
    case signIn
    /// The account may not play the title.
    case notIncluded
    /// Not available in this region.
    case notInRegion
    /// Too many concurrent streams.
    case tooManyStreams
    /// The title is not available yet, or the device's date is wrong.
    case notYet
    /// The device has no network.
    case offline
    /// The service does not respond.
    case unreachable
    /// The service is reachable but cannot answer now.
    case busy
    /// Playback stopped, and may be started again.
    case interrupted
    /// The download must be made again.
    case downloadAgain
    /// The download cannot be saved.
    case notSaved
    /// The device cannot play the title.
    case unsupportedDevice
    /// Anything else: a problem that the viewer cannot fix.
    case unavailable

    /// The key of the text in an app's strings: `latchkey.viewer.` and the name.
    public var key: String { "latchkey.viewer.\(rawValue)" }

    /// The text in English.
    package var text: String {
        switch self {
        case .signIn: "Your sign-in has expired. Sign in again to watch."
        case .notIncluded: "Your account does not include this title. Check your subscription."
        case .notInRegion: "This title is not available in your region. Choose another title."
        case .tooManyStreams: "Too many devices are playing on this account. Stop one of them, then try again."
        case .notYet: "This title cannot be played yet. Check the date on your device, or try again later."
        case .offline: "You are offline. Connect to the internet, then try again."
        case .unreachable: "The service cannot be reached. Check your internet connection, then try again."
        case .busy: "The service is busy. Try again in a few minutes."
        case .interrupted: "Playback was interrupted. Start the title again."
        case .downloadAgain: "This download cannot be played any more. Connect to the internet and download it again."
        case .notSaved: "The download could not be saved. Free some space on your device, then try again."
        case .unsupportedDevice: "This title cannot be played on this device. Try another device."
        case .unavailable: "This title cannot be played at the moment. Try again later."
        }
    }

    /// The text in an app's strings; the English one if they have none.
    /// - Parameters:
    ///   - bundle: holds the strings; the app's own unless given.
    ///   - table: the strings file; `Localizable` unless given.
    public func localized(in bundle: Bundle = .main, table: String? = nil) -> String {
        bundle.localizedString(forKey: key, value: text, table: table)
    }
}

extension ContentKeyError {
    /// The message for the viewer; `nil` if there is none, because the key is no longer wanted.
    public var viewerMessage: ViewerMessage? { kind == .cancelled ? nil : Self.messages[kind] ?? .unavailable }

    fileprivate static let messages: [Kind: ViewerMessage] = [
        .unauthenticated: .signIn, .missingCredential: .signIn, .credentialsFailed: .signIn,
        .forbidden: .notIncluded, .regionDenied: .notInRegion, .concurrencyLimit: .tooManyStreams,
        .notYetValid: .notYet,
        .offline: .offline,
        .timedOut: .unreachable, .deadlineExceeded: .unreachable, .hostNotFound: .unreachable,
        .cannotConnect: .unreachable, .connectionLost: .unreachable, .tlsFailed: .unreachable,
        .serverCertificateUntrusted: .unreachable, .serverCertificateExpired: .unreachable,
        .serverNameMismatch: .unreachable, .serverWithoutTLS: .unreachable, .replyMalformed: .unreachable,
        .transportFailed: .unreachable,
        .rateLimited: .busy, .serverTransient: .busy,
        .leaseEnded: .interrupted, .sessionEnded: .interrupted, .sessionNotRenewed: .interrupted,
        .playerDidNotRenew: .interrupted, .spcFailed: .interrupted, .dropped: .interrupted,
        .persistableKeyFailed: .downloadAgain, .downloadFailed: .downloadAgain,
        .keyIndexDamaged: .downloadAgain, .keyStoreUnreadable: .downloadAgain,
        .storedKeyRenewalUnsupported: .downloadAgain, .keyStoreUnwritable: .notSaved, .keyNotStorable: .notSaved,
        .playerUnsupported: .unsupportedDevice, .unfitForPlayer: .unsupportedDevice,
    ]
}

extension OfflineError {
    /// The message for the viewer.
    public var viewerMessage: ViewerMessage { ContentKeyError.messages[kind] ?? .unavailable }
}
