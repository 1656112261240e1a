#if canImport(AVFoundation)
    import AVFoundation
    public import Foundation
    public import Latchkey

    nonisolated extension AVPlayerKeys {
        /// The settings of a content key session. The defaults are for production.
        public struct Options: Sendable {
            /// Options of every SPC, by AVFoundation's names, such as `AVContentKeyRequestProtocolVersionsKey`. Empty by default.
            public var keyRequest: [String: any Sendable]
            /// The folder in which AVFoundation keeps reports of expired sessions. Defaults to `nil`: no reports.
            public var reports: URL?
            /// How often a key is requested again for the same reason, such as a license that arrived too late. Defaults to 3.
            public var retries: Int
            /// The number of consecutive stale SPCs after which the session counts as stuck. Defaults to 3.
            public var stuckAfter: Int
            /// Whether a stored key answers a request, or is replaced. Defaults to `reuse`.
            public var storedKeys: StoredKeyUse

            /// Options of one key's SPC, by AVFoundation's names, which override those of `keyRequest`; such as
            /// `AVContentKeyRequestRequiresValidationDataInSecureTokenKey` with the stored key of that title. Empty by
            /// default. Called on a queue that it must not block.
            public var keyRequestFor: @Sendable (_ key: KeyURI) -> [String: any Sendable]
            /// Whether to read the playlists of the protected assets when keys rotate, so that only keys that a playlist still
            /// names are renewed. Defaults to `true`. If `false`, or if a playlist cannot be read without cookies or headers,
            /// `LeasePolicy.heldKeys` decides which keys lapse.
            public var readsPlaylists: Bool
            /// Whether the system may answer a request with a key that a service delivered earlier. Such a request needs no
            /// license. Defaults to `false`. Has no effect before iOS 27 and tvOS 27, and on macOS, Mac Catalyst and visionOS.
            public var usesAdvisoryKeys: Bool
            /// The device identifier in SPCs. Defaults to `standard`.
            public var deviceIdentifier: DeviceIdentifier
            /// Names the key of a request that has initialization data but no identifier, such as one for a `pssh` box. Defaults to `nil`
            /// for every key: such a request fails with `keyUnnamed`. Called on a queue that it must not block.
            public var keyNamed: @Sendable (_ initializationData: Data) -> KeyURI?

            /// Creates options.
            public init(
                keyRequest: [String: any Sendable] = [:], reports: URL? = nil, retries: Int = 3, stuckAfter: Int = 3,
                storedKeys: StoredKeyUse = .reuse, readsPlaylists: Bool = true, usesAdvisoryKeys: Bool = false,
                deviceIdentifier: DeviceIdentifier = .standard,
                keyRequestFor: @escaping @Sendable (_ key: KeyURI) -> [String: any Sendable] = { _ in [:] },
                keyNamed: @escaping @Sendable (_ initializationData: Data) -> KeyURI? = { _ in nil }
            ) {
                self.keyRequest = keyRequest
                self.reports = reports
                self.retries = retries
                self.stuckAfter = stuckAfter
                self.storedKeys = storedKeys
                self.readsPlaylists = readsPlaylists
                self.usesAdvisoryKeys = usesAdvisoryKeys
                self.deviceIdentifier = deviceIdentifier
                self.keyRequestFor = keyRequestFor
                self.keyNamed = keyNamed
            }
        }

        /// The device identifier that license services see in SPCs. Has no effect before version 26 of the systems.
        public enum DeviceIdentifier: Sendable, Hashable {
            /// The system's identifier for the app's vendor.
            case standard
            /// A random identifier. A receiver that does not support it gets the standard one.
            case random
            /// A random identifier that is the same for the same seed, 16 bytes.
            case seeded(Data)
        }
    }

    nonisolated extension AVPlayerKeys.Options {
        /// AVFoundation's error number for a playback destination without support for random device identifiers.
        ///
        /// Source: `Documentation/Players.md` §3.12.
        private static let randomIdentifierUnsupported = -11888

        /// The app's options of a key's SPC, by AVFoundation's names.
        func appOptions(for key: KeyURI) -> [String: any Sendable] {
            keyRequest.merging(keyRequestFor(key)) { $1 }
        }

        /// All options of a key's SPC, by AVFoundation's names.
        func spcOptions(for key: KeyURI) -> [String: any Sendable] {
            guard deviceIdentifier != .standard, #available(iOS 26, tvOS 26, macOS 26, visionOS 26, watchOS 26, *)
            else {
                return appOptions(for: key)
            }
            var options = appOptions(for: key)
            options[AVContentKeyRequestShouldRandomizeDeviceIdentifierKey] = true
            if case .seeded(let seed) = deviceIdentifier {
                options[AVContentKeyRequestRandomDeviceIdentifierSeedKey] = seed
            }
            return options
        }

        /// Whether to repeat an SPC with the standard device identifier after an error.
        func callsForStandardIdentifier(_ error: any Error) -> Bool {
            deviceIdentifier != .standard && (error as NSError).domain == AVFoundationErrorDomain
                && (error as NSError).code == Self.randomIdentifierUnsupported
        }
    }
#endif
