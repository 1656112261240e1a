/// A way to deliver content keys.
@available(iOS 10.3, macOS 10.12.4, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
public struct AVContentKeySystem: RawRepresentable, Hashable, Sendable {
    public typealias RawValue = String

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// FairPlay Streaming.
    @available(iOS 10.3, macOS 10.12.4, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
    public static let fairPlayStreaming = AVContentKeySystem(rawValue: "FairPlayStreaming")
    /// Keys in clear.
    @available(iOS 11.0, macOS 10.13, tvOS 11.0, watchOS 7.0, visionOS 1.0, *)
    public static let clearKey = AVContentKeySystem(rawValue: "ClearKeySystem")
    /// Tokens that authorize playback.
    @available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 7.0, visionOS 1.0, *)
    public static let authorizationToken = AVContentKeySystem(rawValue: "AuthorizationTokenSystem")
}

/// An option of the calls that invalidate stored keys.
@available(iOS 12.2, macOS 10.15, tvOS 17.0, watchOS 7.0, visionOS 1.0, *)
public struct AVContentKeySessionServerPlaybackContextOption: RawRepresentable, Hashable, Sendable {
    public typealias RawValue = String

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The protocol versions that the server supports; `[NSNumber]`.
    public static let protocolVersions = Self(rawValue: "ProtocolVersionsKey")
    /// The server's nonce; 8 bytes of `Data`.
    public static let serverChallenge = Self(rawValue: "ServerChallenge")
}

/// Whether the connected displays protect the picture as the key requires.
@available(iOS 17.4, macOS 14.4, tvOS 17.4, visionOS 1.1, *)
@available(watchOS, unavailable)
public enum AVExternalContentProtectionStatus: Int, Sendable {
    case pending = 0
    case sufficient = 1
    case insufficient = 2
}

/// Identifies a content key.
@available(iOS 14.5, macOS 11.3, tvOS 14.5, watchOS 7.4, visionOS 1.0, *)
open class AVContentKeySpecifier: NSObject, @unchecked Sendable {
    public let keySystem: AVContentKeySystem
    // Sound: Apple declares `Any`. Stand-ins store only text and URLs, and do not change them after `init`.
    public let identifier: any Sendable
    public let options: [String: any Sendable]

    public init(
        forKeySystem keySystem: AVContentKeySystem, identifier contentKeyIdentifier: Any, options: [String: Any] = [:]
    ) {
        self.keySystem = keySystem
        identifier = KeyIdentifier.sendable(contentKeyIdentifier)
        self.options = options.mapValues { KeyIdentifier.sendable($0) }
    }
}

/// An object that decrypts media with the keys of a session.
@available(iOS 10.3, macOS 10.12.4, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
public protocol AVContentKeyRecipient: AnyObject {
    var mayRequireContentKeysForMediaDataProcessing: Bool { get }
    @available(iOS 14.5, macOS 11.3, tvOS 14.5, watchOS 7.4, visionOS 1.0, *)
    func contentKeySession(_ contentKeySession: AVContentKeySession, didProvide contentKey: AVContentKey)
}

extension AVContentKeyRecipient {
    public func contentKeySession(_ contentKeySession: AVContentKeySession, didProvide contentKey: AVContentKey) {}
}

/// Options of `makeStreamingContentKeyRequestData`: the FPS protocol versions, `[NSNumber]`.
@available(iOS 10.3, macOS 10.12.4, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
public let AVContentKeyRequestProtocolVersionsKey = "ProtocolVersionsKey"
/// Adds validation data to the secure token of a stored key. The value is the token; `Data`.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public let AVContentKeyRequestRequiresValidationDataInSecureTokenKey = "RequiresValidationDataInSecureTokenKey"
/// Puts a random device identifier into the SPC; `Bool`.
@available(iOS 26.0, macOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
public let AVContentKeyRequestShouldRandomizeDeviceIdentifierKey = "ShouldRandomizeDeviceIdentifierKey"
/// The seed of that identifier; 16 bytes of `Data`.
@available(iOS 26.0, macOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
public let AVContentKeyRequestRandomDeviceIdentifierSeedKey = "RandomDeviceIdentifierSeedKey"
