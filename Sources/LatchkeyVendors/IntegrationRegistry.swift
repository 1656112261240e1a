import LatchkeyCore

/// Integrations by identifier: the profiles that come with Latchkey, and the app's own.
///
/// Safe to use from any thread. The registry keeps no integrations: an app may use several configurations of one side by side.
@_spi(Integrations) public final class IntegrationRegistry: Sendable {
    /// Makes an integration from its settings.
    public typealias Factory = @Sendable (_ settings: [String: String]) throws -> any VendorIntegration

    private let factories: Locked<[String: Factory]>

    /// - Parameter profiles: the profiles that are registered first. Defaults to all that come with Latchkey.
    public init(profiles: [VendorProfile] = VendorProfile.all) {
        let all = profiles.map { profile in
            (profile.identifier, { @Sendable settings in try profile.configured(settings) } as Factory)
        }
        factories = Locked(Dictionary(all) { $1 })
    }

    /// The registered identifiers in alphabetical order.
    public var identifiers: [String] { factories.withLock { $0.keys.sorted() } }

    /// Registers a factory under an identifier, replacing any earlier one.
    public func register(_ identifier: String, _ factory: @escaping Factory) {
        factories.withLock { $0[identifier] = factory }
    }

    /// Builds an integration.
    /// - Throws: `IntegrationError` `unknownIntegration` for an identifier that is not registered, or the factory's error.
    public func integration(_ identifier: String, settings: [String: String] = [:]) throws -> any VendorIntegration {
        guard let factory = factories.withLock({ $0[identifier] }) else {
            throw IntegrationError(
                .unknownIntegration, "No integration is registered as \"\(identifier.prefix(60))\".",
                remedy: "Choose one of \(identifiers.joined(separator: ", ")).")
        }
        return try factory(settings)
    }
}
