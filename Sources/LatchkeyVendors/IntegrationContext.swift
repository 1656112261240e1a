public import Foundation
public import LatchkeyCore

/// The purpose of a key request.
public enum KeyPurpose: String, Sendable, Hashable, Codable, CaseIterable {
    /// To play now.
    case streaming
    /// To store the key and play offline.
    case persistable
    /// To extend the lease of a key.
    case renewal
}

/// The input of a certificate request.
@_spi(Integrations) public struct CertificateContext: Sendable {
    /// Asks the app for credentials. Call it only if the request carries them.
    public var credentials: @Sendable () async throws -> CredentialSet
    /// The values that were looked up for the loader.
    public var lookup: [String: Secret]

    /// - Parameters:
    ///   - lookup: the values that were looked up for the loader.
    ///   - credentials: asks the app.
    public init(
        lookup: [String: Secret] = [:], credentials: @escaping @Sendable () async throws -> CredentialSet = { .none }
    ) {
        self.lookup = lookup
        self.credentials = credentials
    }
}

/// How often an integration looks something up.
@_spi(Integrations) public enum LookupScope: String, Sendable, Hashable, CaseIterable {
    /// Never.
    case never
    /// Before each license request.
    case key
    /// Once for a loader, before its certificate.
    case loader
}

/// The input of a lookup.
@_spi(Integrations) public struct LookupContext: Sendable {
    /// The requested key; `nil` for a lookup of the loader.
    public var keyURI: KeyURI?
    /// An identifier, new for every lookup.
    public var messageID: String
    /// Asks the app for credentials. Call it only if the request carries them.
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

/// The input of a license request.
@_spi(Integrations) public struct LicenseContext: Sendable {
    /// The key's URI as the playlist states it.
    public var keyURI: KeyURI
    /// The name of the key in the SPC.
    public var contentIdentifier: ContentIdentifier
    /// The purpose of the request.
    public var purpose: KeyPurpose
    /// The values that were looked up for this key or for the loader.
    public var lookup: [String: Secret]
    /// The values of the secure session that the license belongs to.
    public var session: [String: Secret]
    /// An identifier, new for every exchange.
    public var messageID: String
    /// Asks the app for fresh credentials for this attempt. Call it only if the request carries them.
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
