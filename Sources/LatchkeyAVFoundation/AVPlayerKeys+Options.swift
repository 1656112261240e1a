#if canImport(AVFoundation)
    import AVFoundation
    public import Foundation
    public import Latchkey

    nonisolated extension AVPlayerKeys {
        /// The settings of a content key session. The defaults are for production.
        public struct Options: Sendable {
            /// Options of every SPC, by AVFoundation's names, such as `AVContentKeyRequestProtocolVersionsKey`. Defaults to none.
            public var keyRequest: [String: any Sendable]
            /// The folder in which AVFoundation keeps the reports of expired sessions. Defaults to `nil`: it keeps none.
            public var reports: URL?
            /// How often a key is asked for again for the same reason, such as a license that came too late. Defaults to 3.
            public var retries: Int
            /// After how many stale SPCs in a row the session counts as stuck. Defaults to 3.
            public var stuckAfter: Int
            /// Whether a stored key answers a request, or is replaced. Defaults to `reuse`.
            public var storedKeys: StoredKeyUse

            /// Options of one key's SPC, by AVFoundation's names, which go before those of `keyRequest`; such as
            /// `AVContentKeyRequestRequiresValidationDataInSecureTokenKey` with the stored key of that title. Defaults to none. Called on a
            /// queue that it must not block.
            public var keyRequestFor: @Sendable (_ key: KeyURI) -> [String: any Sendable]
            /// Whether the playlists of the protected assets are read when keys rotate, so that only keys that a playlist still names are
            /// renewed. Defaults to `true`. Without it, and where a playlist cannot be read without cookies or headers,
            /// `LeasePolicy.heldKeys` says which keys lapse.
            public var readsPlaylists: Bool
            /// Whether a request may find that the system already has its key, because a service delivered it earlier. Such a request needs
            /// no license. Defaults to `false`. Has no effect before iOS 27 and tvOS 27, and on macOS, Mac Catalyst and visionOS.
            public var usesAdvisoryKeys: Bool
            /// How SPCs name the device. Defaults to `standard`.
            public var deviceIdentifier: DeviceIdentifier
            /// Names the key of a request that has initialization data and no identifier, such as one for a `pssh` box. Defaults to `nil` for
            /// every key: such a request fails with `keyUnnamed`. Called on a queue that it must not block.
            public var keyNamed: @Sendable (_ initializationData: Data) -> KeyURI?

            /// Makes options.
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

        /// How SPCs name the device to license services. Has no effect before version 26 of the systems.
        public enum DeviceIdentifier: Sendable, Hashable {
            /// By the identifier that the system has for the app's vendor.
            case standard
            /// By a random one. A receiver that does not support it gets the standard one.
            case random
            /// By a random one that is the same for the same seed, 16 bytes.
            case seeded(Data)
        }
    }

    nonisolated extension AVPlayerKeys.Options {
        /// AVFoundation's error number for a playback destination that takes no random device identifier.
        ///
        /// Source: `Documentation/Players.md` §3.12.
        private static let randomIdentifierUnsupported = -11888

        /// The options of a key's SPC that the app gives, by AVFoundation's names.
        func appOptions(for key: KeyURI) -> [String: any Sendable] {
            keyRequest.merging(keyRequestFor(key)) { $1 }
        }

        /// The options of a key's SPC, by AVFoundation's names.
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

        /// Whether to try an SPC again with the standard device identifier after an error.
        func callsForStandardIdentifier(_ error: any Error) -> Bool {
            deviceIdentifier != .standard && (error as NSError).domain == AVFoundationErrorDomain
                && (error as NSError).code == Self.randomIdentifierUnsupported
        }
    }
#endif
