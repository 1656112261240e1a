#if canImport(THEOplayerSDK)
    import Foundation
    @_spi(Adapters) public import Latchkey
    public import THEOplayerSDK

    /// Gives THEOplayer's sources their keys: the factory of its integrations, for versions 4 to 11.
    ///
    ///     THEOplayerKeys(loader, onFailure: show).register(as: "acme")
    ///     THEOplayerKeys(.vuDRMTheo, onFailure: show).register(as: "vudrm")
    ///
    /// THEOplayer asks the factory for an integration for each source that names it as `customIntegrationId`. The player keeps both, and
    /// drops an integration together with its source; its keys are released then, so there is no `release()` here. THEOplayer plays with a
    /// license of its own, which has nothing to do with keys: the app gives it to the player's configuration. An app with version 4 sets the
    /// compilation condition `THEOPLAYER_4`. Safe to use from any thread. Source: `Documentation/Players.md` §5.
    public nonisolated final class THEOplayerKeys: ContentProtectionIntegrationFactory, Sendable {
        private let integration: @Sendable (THEOplayerSource) -> any ContentProtectionIntegration
        private let assetOf: @Sendable (THEOplayerSource) -> AssetID?

        /// Makes keys that come from one loader. What the sources' configurations say is ignored.
        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - assetOf: Returns the app's name for a source's title; credentials are asked for with it, and failures and events carry it.
        ///     Defaults to `nil` for each source. Called on any thread.
        ///   - onFailure: Takes why a key did not come or ended; not called for cancellations. Called on any thread, which it must not block.
        public convenience init(
            _ loader: ContentKeyLoader, assetOf: @escaping @Sendable (THEOplayerSource) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.init(assetOf: assetOf, onFailure: onFailure) { _ in loader }
        }

        /// Makes keys that come from a loader per source.
        /// - Parameters:
        ///   - assetOf: As in `init(_:assetOf:onFailure:)`.
        ///   - onFailure: As in `init(_:assetOf:onFailure:)`.
        ///   - loaderFor: Returns the loader of a source; a loader that it makes lives as long as the source. If it throws, every request of
        ///     the source gets the error. Called on any thread.
        public init(
            assetOf: @escaping @Sendable (THEOplayerSource) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void,
            loaderFor: @escaping @Sendable (THEOplayerSource) throws -> ContentKeyLoader
        ) {
            self.assetOf = assetOf
            integration = { source in
                let loader = Result { try loaderFor(source) }.mapError { ContentKeyError(setup: $0) }
                return LoaderIntegration(loader, source.purpose, of: source.asset, onFailure)
            }
        }

        /// Makes keys of one vendor. Each source's configuration gives the vendor's settings, and its credentials if the app does not.
        /// - Parameters:
        ///   - profile: The vendor.
        ///   - credentials: Gives the token of each request. Defaults to the integration parameters of the source.
        ///   - sender: Who sends the requests. Defaults to the loader.
        ///   - configuration: Retries, hosts, limits; with `player` as the sender only the hosts count.
        ///   - transport: Carries the loader's requests.
        ///   - timekeeper: The loader's clock.
        ///   - assetOf: As in `init(_:assetOf:onFailure:)`.
        ///   - onFailure: As in `init(_:assetOf:onFailure:)`.
        public init(
            _ profile: VendorProfile, credentials: Credentials? = nil, sentBy sender: THEOplayerSender = .loader,
            configuration: LoaderConfiguration = LoaderConfiguration(),
            transport: any Transport = SystemTransport(), timekeeper: any Timekeeper = SystemTimekeeper(),
            assetOf: @escaping @Sendable (THEOplayerSource) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.assetOf = assetOf
            integration = { source in
                if sender == .player {
                    return PlayerIntegration(
                        profile, source, credentials: credentials, hosts: configuration.hosts, onFailure: onFailure)
                }
                let loader = Result {
                    ContentKeyLoader(
                        try source.configured(profile), credentials: credentials ?? source.credentials(of: profile),
                        configuration: configuration, transport: source.transport(transport), timekeeper: timekeeper)
                }.mapError { ContentKeyError(setup: $0) }
                return LoaderIntegration(loader, source.purpose, of: source.asset, onFailure)
            }
        }

        /// Gives the keys of sources that name this identifier as `customIntegrationId`, in place of any other integration of that name.
        public func register(as integrationID: String) {
            THEOplayer.registerContentProtectionIntegration(
                integrationId: integrationID, keySystem: .FAIRPLAY, integrationFactory: self)
        }

        public func build(configuration: any DRMConfiguration) -> any ContentProtectionIntegration {
            var source = THEOplayerSource(configuration)
            source.asset = assetOf(source)
            return integration(source)
        }
    }

    /// Who sends the requests for a source's certificate and licenses.
    public nonisolated enum THEOplayerSender: Sendable, Hashable {
        /// The loader, with its retries and its rules for hosts; THEOplayer gets the results.
        case loader
        /// THEOplayer, as in its guides: its own networking, proxies and analytics see every request, and it sends cookies if the source
        /// wants them. For vendors that need nothing but these two requests.
        case player
    }

    nonisolated extension THEOplayerSource {
        /// A profile with the source's settings.
        /// - Throws: `integrationFailed` if the profile needs a parameter whose value cannot be written as text; `missingSetting` if the
        ///   source lacks a setting that the profile requires.
        func configured(_ profile: VendorProfile) throws(ContentKeyError) -> ConfiguredVendor {
            if let name = profile.parameterNames.first(where: unread.contains) {
                throw ContentKeyError(
                    .integrationFailed, "The integration parameter \"\(name)\" has no form as text.",
                    remedy: "Give it as text, a number, a truth value, or a value that can be encoded.")
            }
            do { return try profile.configured(settings(of: profile)) } catch {
                throw ContentKeyError(.missingSetting, error.reason, remedy: error.remedy)
            }
        }
    }

    nonisolated extension DRMConfiguration {
        /// Used before version 10 only. Later versions have a property of this name, which is called instead.
        var queryParameters: [String: String]? { nil }
    }

    nonisolated extension ContentKeyError {
        init(setup error: any Error) {
            if let error = error as? ContentKeyError {
                self = error
            } else {
                let text = (error as? any DiagnosableError)?.reason ?? "The source's loader was not made."
                let remedy = (error as? any DiagnosableError)?.remedy ?? "Look at the underlying error."
                self.init(.integrationFailed, text, remedy: remedy, underlying: error)
            }
        }
    }
#endif
