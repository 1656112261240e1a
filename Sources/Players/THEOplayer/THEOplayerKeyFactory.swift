#if canImport(THEOplayerSDK)
    import Foundation
    public import Latchkey
    public import THEOplayerSDK

    /// Makes THEOplayer an integration for each source that names it.
    ///
    ///     THEOplayer.registerKeys(of: .vuDRM)
    ///
    /// Keep nothing: THEOplayer keeps its factories.
    public final class THEOplayerKeyFactory: ContentProtectionIntegrationFactory, Sendable {
        private let makeLoader: @Sendable (THEOplayerSource) throws -> ContentKeyLoader
        private let onError: THEOplayerErrorListener

        /// - Parameters:
        ///   - makeLoader: gives the loader of a source, from any thread; one that it makes lives as long as the source. What it
        ///     throws is the answer to the source's requests.
        ///   - onError: hears of keys whose life ended although they are still wanted; called from any thread.
        public init(
            onError: @escaping THEOplayerErrorListener = { _, _ in },
            makeLoader: @escaping @Sendable (THEOplayerSource) throws -> ContentKeyLoader
        ) {
            self.makeLoader = makeLoader
            self.onError = onError
        }

        /// One loader for all sources; what their configurations say does not count.
        public convenience init(
            _ loader: ContentKeyLoader, onError: @escaping THEOplayerErrorListener = { _, _ in }
        ) {
            self.init(onError: onError) { _ in loader }
        }

        /// A vendor; the configuration of each source gives its settings, and its credentials unless the app does.
        public convenience init(
            _ profile: VendorProfile, credentials: Credentials? = nil,
            configuration: LoaderConfiguration = LoaderConfiguration(),
            transport: any Transport = URLSessionTransport(), timekeeper: any Timekeeper = SystemTimekeeper(),
            onError: @escaping THEOplayerErrorListener = { _, _ in }
        ) {
            self.init(onError: onError) { source in
                ContentKeyLoader(
                    profile.with(source.settings(of: profile)),
                    credentials: credentials ?? source.credentials(of: profile), configuration: configuration,
                    transport: source.transport(transport), timekeeper: timekeeper)
            }
        }

        public func build(configuration: any DRMConfiguration) -> any ContentProtectionIntegration {
            let source = THEOplayerSource(configuration)
            let loader = Result { try makeLoader(source) }
            let calls = THEOplayerCalls(loader.mapError { ContentKeyError(setup: $0) }, source.purpose, onError)
            #if THEOPLAYER_4
                return THEOplayerV4KeyBridge(calls)
            #else
                return THEOplayerKeyBridge(calls)
            #endif
        }
    }

    extension THEOplayer {
        /// Has the keys of sources that name an integration come from a vendor's license service.
        /// - Parameters:
        ///   - profile: the vendor.
        ///   - integrationId: what sources name as `customIntegrationId`; the profile's identifier unless given.
        ///   - credentials: gives the token of each request; the configuration's integration parameters unless given.
        ///   - configuration: retries, hosts, limits.
        public static func registerKeys(
            of profile: VendorProfile, as integrationId: String? = nil, credentials: Credentials? = nil,
            configuration: LoaderConfiguration = LoaderConfiguration()
        ) {
            registerContentProtectionIntegration(
                integrationId: integrationId ?? profile.identifier, keySystem: .FAIRPLAY,
                integrationFactory: THEOplayerKeyFactory(
                    profile, credentials: credentials, configuration: configuration))
        }
    }

    extension THEOplayerSource {
        init(_ configuration: any DRMConfiguration) {
            parameters = (configuration.integrationParameters ?? [:]).compactMapValues(Self.text)
            for fields in configuration.headers ?? [] { headers.merge(fields) { $1 } }
            query = configuration.queryParameters ?? [:]
            guard let system = (configuration as? any FairPlayDRMConfigurationProtocol)?.fairplay else { return }
            let addresses = ["licenseURL": system.licenseAcquisitionURL, "certificateURL": system.certificateURL]
            parameters.merge(addresses.compactMapValues { $0?.absoluteString }) { stated, _ in stated }
            headers.merge(system.headers ?? [:]) { stated, _ in stated }
            if system.licenseType == .persistent { purpose = .persistable }
        }

        private static func text(_ value: Any) -> String? {
            switch value {
            case let text as String: text
            case let url as URL: url.absoluteString
            case let value as Bool: "\(value)"
            case let value as any BinaryInteger: "\(value)"
            case let value as any BinaryFloatingPoint: "\(value)"
            default: nil
            }
        }
    }

    extension DRMConfiguration {
        /// Stands in before version 10, which brought the property; from then on the player's own is called.
        var queryParameters: [String: String]? { nil }
    }

    extension ContentKeyError {
        fileprivate init(setup error: any Error) {
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
