public import Latchkey
public import LatchkeyCore
@_spi(Integrations) public import LatchkeyVendors

extension LivePlayer {
    /// What happened to a live player. All moments are by the timekeeper's uptime, all lists in their order in time.
    public struct Report: Sendable {
        /// How many segments were due, those of each track counted.
        public var segments = 0
        /// The runs of segments that could not be decrypted.
        public var gaps: [Gap] = []
        /// The licenses that came and that the device took, renewals among them.
        public var licenses: [IssuedLicense] = []
        /// The renewals that the loader asked for.
        public var renewals: [Renewal] = []
        /// The key requests that were answered with an error, or with a CKC that the device did not take.
        public var failures: [Failure] = []
        /// The keys that the loader reported as ended.
        public var ends: [End] = []

        /// A run of segments of one key that were due and could not be decrypted.
        public struct Gap: Sendable, Hashable {
            /// The key's URI.
            public let key: KeyURI
            /// When the first of them was due.
            public let start: Duration
            /// How long they play.
            public internal(set) var duration: Duration
        }

        /// A license that the device took.
        public struct IssuedLicense: Sendable, Hashable {
            /// The key's URI.
            public let key: KeyURI
            /// What it was requested for.
            public let purpose: KeyPurpose
            /// When it came.
            public let time: Duration
        }

        /// A renewal that the loader asked for.
        public struct Renewal: Sendable, Hashable {
            /// The key's URI.
            public let key: KeyURI
            /// When the loader asked for it.
            public let time: Duration
            /// How old the key was: the time since its latest license came.
            public let age: Duration
            /// The lease of that license; `nil` without one.
            public let lease: Duration?
        }

        /// A key request that gave no key.
        public struct Failure: Sendable {
            /// The key's URI.
            public let key: KeyURI
            /// What it was requested for.
            public let purpose: KeyPurpose
            /// When it failed.
            public let time: Duration
            /// The loader's error, or the device's.
            public let error: any Error
        }

        /// The end of a key that the player still needs.
        public struct End: Sendable {
            /// The key's URI.
            public let key: KeyURI
            /// When it ended.
            public let time: Duration
            /// Why.
            public let error: ContentKeyError
        }
    }
}
