/// A way to deliver content keys.
public struct AVContentKeySystem: RawRepresentable, Hashable, Sendable {
    public typealias RawValue = String

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// FairPlay Streaming.
    public static let fairPlayStreaming = AVContentKeySystem(rawValue: "FairPlayStreaming")
    /// Keys in clear.
    public static let clearKey = AVContentKeySystem(rawValue: "ClearKeySystem")
    /// Tokens that authorize playback.
    public static let authorizationToken = AVContentKeySystem(rawValue: "AuthorizationTokenSystem")
}

/// An option of the calls that invalidate stored keys.
public struct AVContentKeySessionServerPlaybackContextOption: RawRepresentable, Hashable, Sendable {
    public typealias RawValue = String

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The protocol versions that the server takes; `[NSNumber]`.
    public static let protocolVersions = Self(rawValue: "ProtocolVersionsKey")
    /// The server's nonce; 8 bytes of `Data`.
    public static let serverChallenge = Self(rawValue: "ServerChallenge")
}

/// Whether the connected displays protect the picture as far as its key demands.
public enum AVExternalContentProtectionStatus: Int, Sendable {
    case pending = 0
    case sufficient = 1
    case insufficient = 2
}

/// Names a content key.
public final class AVContentKeySpecifier: NSObject, @unchecked Sendable {
    public let keySystem: AVContentKeySystem
    // Sound: `Any` is what Apple declares; stand-ins put in text and URLs, and nothing is changed after `init`.
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

/// Who decrypts media with the keys of a session.
public protocol AVContentKeyRecipient: AnyObject {
    var mayRequireContentKeysForMediaDataProcessing: Bool { get }
    func contentKeySession(_ contentKeySession: AVContentKeySession, didProvide contentKey: AVContentKey)
}

extension AVContentKeyRecipient {
    public func contentKeySession(_ contentKeySession: AVContentKeySession, didProvide contentKey: AVContentKey) {}
}

/// Options of `makeStreamingContentKeyRequestData`: the FPS protocol versions, `[NSNumber]`.
public let AVContentKeyRequestProtocolVersionsKey = "ProtocolVersionsKey"
/// Adds validation data to the secure token of a stored key, which is the value; `Data`.
public let AVContentKeyRequestRequiresValidationDataInSecureTokenKey = "RequiresValidationDataInSecureTokenKey"
/// Has the SPC carry a random device identifier; `Bool`.
public let AVContentKeyRequestShouldRandomizeDeviceIdentifierKey = "ShouldRandomizeDeviceIdentifierKey"
/// The seed of that identifier; 16 bytes of `Data`.
public let AVContentKeyRequestRandomDeviceIdentifierSeedKey = "RandomDeviceIdentifierSeedKey"
