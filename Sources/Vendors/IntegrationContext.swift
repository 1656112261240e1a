public import Foundation
public import LatchkeyCore

/// What a key is wanted for.
public enum KeyPurpose: String, Sendable, Hashable, Codable, CaseIterable {
    /// To play now.
    case streaming
    /// To store, and to play offline.
    case persistable
    /// To go on with a key whose lease runs out.
    case renewal
}

/// What a certificate request may use.
public struct CertificateContext: Sendable {
    /// Asks the app for credentials; call it only when the request carries them.
    public var credentials: @Sendable () async throws -> CredentialSet
    /// What was looked up for the loader.
    public var lookup: [String: Secret]

    /// - Parameters:
    ///   - lookup: what was looked up for the loader.
    ///   - credentials: asks the app.
    public init(
        lookup: [String: Secret] = [:], credentials: @escaping @Sendable () async throws -> CredentialSet = { .none }
    ) {
        self.lookup = lookup
        self.credentials = credentials
    }
}

/// How often an integration looks something up.
public enum LookupScope: String, Sendable, Hashable, Codable, CaseIterable {
    /// Never.
    case never
    /// Before each license request.
    case key
    /// Once for a loader, before its certificate.
    case loader
}

/// What a lookup may use.
public struct LookupContext: Sendable {
    /// The key that is wanted; nil for a lookup of the loader's.
    public var keyURI: KeyURI?
    /// An identifier that is new for every lookup.
    public var messageID: String
    /// Asks the app for credentials; call it only when the request carries them.
    public var credentials: @Sendable () async throws -> CredentialSet

    /// Makes a context.
    public init(
        keyURI: KeyURI?, messageID: String = UUID().uuidString.lowercased(),
        credentials: @escaping @Sendable () async throws -> CredentialSet = { .none }
    ) {
        self.keyURI = keyURI
        self.messageID = messageID
        self.credentials = credentials
    }
}

/// What a license request may use.
public struct LicenseContext: Sendable {
    /// The key's URI as the playlist states it.
    public var keyURI: KeyURI
    /// What the SPC names the key by.
    public var contentIdentifier: ContentIdentifier
    /// What the key is wanted for.
    public var purpose: KeyPurpose
    /// What was looked up for this key or for the loader.
    public var lookup: [String: Secret]
    /// What the secure session holds that the license belongs to.
    public var session: [String: Secret]
    /// An identifier that is new for every exchange.
    public var messageID: String
    /// Asks the app for credentials, fresh for this attempt; call it only when the request carries them.
    public var credentials: @Sendable () async throws -> CredentialSet

    /// Makes a context.
    public init(
        keyURI: KeyURI, contentIdentifier: ContentIdentifier, purpose: KeyPurpose = .streaming,
        lookup: [String: Secret] = [:], session: [String: Secret] = [:],
        messageID: String = UUID().uuidString.lowercased(),
        credentials: @escaping @Sendable () async throws -> CredentialSet = { .none }
    ) {
        self.keyURI = keyURI
        self.contentIdentifier = contentIdentifier
        self.purpose = purpose
        self.lookup = lookup
        self.session = session
        self.messageID = messageID
        self.credentials = credentials
    }
}
