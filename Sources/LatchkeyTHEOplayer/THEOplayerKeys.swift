#if canImport(THEOplayerSDK)
    import Foundation
    @_spi(Adapters) public import Latchkey
    public import THEOplayerSDK

    /// Delivers keys to THEOplayer's sources: the factory of its integrations, for versions 4 to 11.
    ///
    ///     THEOplayerKeys(loader, onFailure: show).register(as: "acme")
    ///     THEOplayerKeys(.vuDRMTheo, onFailure: show).register(as: "customVuDRM")
    ///
    /// THEOplayer asks the factory for an integration for each source that names it as `customIntegrationId`. The player keeps both, and
    /// drops an integration together with its source; its keys are released then, so there is no `release()` here. THEOplayer's own
    /// player license is unrelated to keys: the app passes it to the player's configuration. An app with version 4 sets the compilation
    /// condition `THEOPLAYER_4`. Safe to use from any thread. Source: `Documentation/Players.md` §5.
    public nonisolated final class THEOplayerKeys: ContentProtectionIntegrationFactory, Sendable {
        private let integration: @Sendable (THEOplayerSource) -> any ContentProtectionIntegration
        private let assetOf: @Sendable (THEOplayerSource) -> AssetID?
        private let playing = Playing()

        /// The keys of the playing sources, as long as THEOplayer holds their integrations.
        // Sound: `sources` is only accessed while the lock is held.
        private final class Playing: @unchecked Sendable {
            private struct Source { weak var keys: PlayerKeys? }

            private let lock = NSLock()
            private var sources: [Source] = []

            var keys: [PlayerKeys] { lock.withLock { sources.compactMap(\.keys) } }

            func add(_ keys: PlayerKeys) {
                lock.withLock { sources = sources.filter { $0.keys != nil } + [Source(keys: keys)] }
            }
        }

        /// Creates keys from one loader. The sources' configurations are ignored.
        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - assetOf: Returns the app's name for a source's title, used to request credentials and carried by failures and
        ///     events. Defaults to `nil` for each source. Called on any thread.
        ///   - onFailure: Receives the reason that a key was not delivered or ended; not called for cancellations. Called on
        ///     any thread, which it must not block.
        public convenience init(
            _ loader: ContentKeyLoader, assetOf: @escaping @Sendable (THEOplayerSource) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.init(assetOf: assetOf, onFailure: onFailure) { _ in loader }
        }

        /// Creates keys from a loader per source.
        /// - Parameters:
        ///   - assetOf: As in `init(_:assetOf:onFailure:)`.
        ///   - onFailure: As in `init(_:assetOf:onFailure:)`.
        ///   - loaderFor: Returns the loader of a source; a loader that it creates lives as long as the source. If it throws,
        ///     every request of the source gets the error. Called on any thread.
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

        /// Creates keys for one vendor. Each source's configuration provides the vendor's settings, and its credentials if the app does
        /// not.
        ///
        /// Parameters may have the names of the profile, as `latchkey vendors` lists them, or of the vendor's sample for THEOplayer.
        /// - Parameters:
        ///   - profile: The vendor.
        ///   - other: The vendor's profile for sources that lack settings of `profile` and whose parameters match this one better.
        ///   - credentials: Provides the token of each request. Defaults to the integration parameters of the source.
        ///   - sender: The sender of the requests. Defaults to the loader.
        ///   - configuration: Retries, hosts, limits; with `player` as the sender only the hosts apply.
        ///   - transport: Carries the loader's requests.
        ///   - timekeeper: The loader's clock.
        ///   - assetOf: As in `init(_:assetOf:onFailure:)`.
        ///   - onFailure: As in `init(_:assetOf:onFailure:)`.
        public init(
            _ profile: VendorProfile, or other: VendorProfile? = nil, credentials: Credentials? = nil,
            sentBy sender: THEOplayerSender = .loader, configuration: LoaderConfiguration = LoaderConfiguration(),
            transport: any Transport = SystemTransport(), timekeeper: any Timekeeper = SystemTimekeeper(),
            assetOf: @escaping @Sendable (THEOplayerSource) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.assetOf = assetOf
            integration = { source in
                let isTokenGiven = credentials != nil
                let chosen = source.choice(of: profile, or: other, isTokenGiven)
                let vendor = Result { () throws(ContentKeyError) in
                    try source.configured(profile: chosen, isTokenGiven: isTokenGiven)
                }
                let credentials = credentials ?? source.credentials(of: chosen)
                if sender == .player {
                    return PlayerIntegration(
                        vendor, source, credentials, hosts: configuration.hosts, onFailure: onFailure)
                }
                let loader = vendor.map {
                    ContentKeyLoader(
                        $0, credentials: credentials, configuration: configuration,
                        transport: source.transport(transport), timekeeper: timekeeper)
                }
                return LoaderIntegration(loader, source.purpose, of: source.asset, onFailure)
            }
        }

        /// Delivers keys to sources that name this identifier as `customIntegrationId`, replacing any other integration of that name.
        public func register(as integrationID: String) {
            THEOplayer.registerContentProtectionIntegration(
                integrationId: integrationID, keySystem: .FAIRPLAY, integrationFactory: self)
        }

        public func build(configuration: any DRMConfiguration) -> any ContentProtectionIntegration {
            var source = THEOplayerSource(configuration)
            source.asset = assetOf(source)
            let made = integration(source)
            if let keys = (made as? LoaderIntegration)?.playerKeys {
                playing.add(keys)
            }
            return made
        }

        /// Pauses heartbeats until `resume()`, for an app in the background that does not play.
        public func suspend() { for keys in playing.keys { keys.suspend() } }

        /// Resumes heartbeats after `suspend()`.
        public func resume() { for keys in playing.keys { keys.resume() } }
    }

    /// The sender of the requests for a source's certificate and licenses.
    public nonisolated enum THEOplayerSender: Sendable, Hashable {
        /// The loader, with its retries and its rules for hosts; THEOplayer gets the results.
        case loader
        /// THEOplayer, as in its guides: its own networking, proxies and analytics see every request, and it sends cookies if
        /// the source enables them. For vendors that need only these two requests.
        case player
    }

    nonisolated extension THEOplayerSource {
        func choice(of profile: VendorProfile, or other: VendorProfile?, _ isTokenGiven: Bool) -> VendorProfile {
            guard let other, !missing(of: profile, isTokenGiven).isEmpty,
                unknownParameters(of: other).count < unknownParameters(of: profile).count
            else { return profile }
            return other
        }

        /// The profile's required settings that the source lacks, in the form of the source's configuration. A credential that
        /// the app provides is not missing.
        func missing(of profile: VendorProfile, _ isTokenGiven: Bool) -> [(place: String, meaning: String)] {
            profile.missing(in: profile.renamed(parameters)).filter { !isTokenGiven || !$0.isCredential }.map {
                (Self.place(of: $0.name, $0.sampleName), $0.meaning)
            }
        }

        /// The location of a parameter in a configuration.
        private static func place(of name: String, _ sampleName: String) -> String {
            switch name {
            case "licenseURL": "licenseAcquisitionURL"
            case "certificateURL": name
            default: "integrationParameters[\"\(sampleName)\"]"
            }
        }

        /// A profile with the source's settings.
        /// - Throws: `integrationFailed` if the profile needs a parameter whose value cannot be written as text;
        ///   `missingSetting` if the source lacks a required setting.
        func configured(profile: VendorProfile, isTokenGiven: Bool) throws(ContentKeyError) -> ConfiguredVendor {
            let names = Set(profile.parameterNames + profile.sampleNames)
            if let name = unread.intersection(names).min() {
                throw ContentKeyError(
                    .integrationFailed, "The integration parameter \"\(name)\" has no form as text.",
                    remedy: "Give it as text, a number, a truth value, or a value that can be encoded.")
            }
            if let missing = missing(of: profile, isTokenGiven).first {
                let unknown = unknownParameters(of: profile).map { "\"\($0)\"" }.joined(separator: ", ")
                throw ContentKeyError(
                    .missingSetting,
                    "The source's configuration has no \(missing.place) (\(missing.meaning)), which \(profile.name) needs."
                        + (unknown.isEmpty ? "" : " It has \(unknown), which \(profile.name) does not know."),
                    remedy: "Give the source's configuration \(missing.place).")
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
