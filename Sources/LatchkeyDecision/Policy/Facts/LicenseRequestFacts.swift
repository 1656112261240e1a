import LatchkeyCore
package import LatchkeyFairPlay
package import LatchkeyForms

/// The facts of a license request: from its address, its headers, and the SPC in it.
///
/// Source: `Documentation/LicenseServer.md` §6.3.
package struct LicenseRequestFacts: Sendable, Hashable {
    /// The customer whose API was asked.
    package var tenant = ""
    package var drm = DRM.fairPlay
    /// The purpose of the key.
    package var purpose = Purpose.stream
    /// The player's state; `nil` if the device does not say.
    package var playback: PlaybackState?
    /// The SPC's playback session; `nil` if the device does not say.
    package var session: PlaybackSessionID?
    /// The session as the caller of another license service names it; `nil` for licenses that are made here.
    package var sessionName: String?
    /// Where the picture goes.
    package var destination = StreamingDestination.device
    /// The device's stated capabilities.
    package var capabilities: DeviceCapabilities = []
    /// The version of the FairPlay protocol that the device uses; `nil` for other systems.
    package var protocolVersion: Int?
    /// A digest of the device's identifier, never the identifier, or `nil`.
    package var device: String?
    /// The viewer's address; `nil` if it is not known.
    package var address: AddressRange?
    /// The viewer's country, two capital letters; `nil` if it is not known.
    package var country: String?
    /// The source of the country.
    package var countrySource = CountrySource.header
    /// Whether the address hides a place, as a VPN's or Tor's does; `nil` if unknown.
    package var isAnonymized: Bool?
    package var userAgent: String?
    /// The stop codes of sessions that the viewer gives up for this one.
    package var stopCodes: Set<String> = []

    package init() {}

    /// Takes over the facts in a player's SPC.
    /// - Parameters:
    ///   - context: the opened SPC.
    ///   - device: a digest of its device identifier.
    package mutating func take(_ context: ServerPlaybackContext, device: String) {
        playback = context.playback?.state
        session = context.playback?.session
        destination = context.destination
        capabilities = context.capabilities
        protocolVersion = Int(context.protocolVersion)
        self.device = device
    }

    /// Takes over the facts of an SPC that a licensee's module answers.
    /// - Parameters:
    ///   - statements: the device's statements.
    ///   - device: a digest of its device identifier; `nil` if it could not be read.
    package mutating func take(_ statements: SPCStatements, device: String?) {
        (playback, session) = (statements.playback?.state, statements.playback?.session)
        (destination, capabilities) = (statements.destination, statements.capabilities)
        (protocolVersion, self.device) = (Int(statements.protocolVersion), device)
    }

    /// The systems that keys are licensed to. Their order is part of accounts' records: append only.
    package enum DRM: String, Sendable, Hashable, CaseIterable {
        case fairPlay
        case clearKey
        case widevine
        case playReady
        /// A system that has no name here.
        case other

        /// The name in addresses, metrics and logs, such as `playready`.
        package var label: String { rawValue.lowercased() }
    }

    /// The purpose of a key.
    package enum Purpose: String, Sendable, Hashable, CaseIterable {
        case stream
        case download
        /// A new license for a key that the device has stored.
        case renewStored
    }
}
