public import Latchkey
public import LatchkeyCore
@_spi(Integrations) public import LatchkeyVendors

extension LivePlayer {
    /// The events of a live player. All times are the timekeeper's uptime; all lists are in chronological order.
    public struct Report: Sendable {
        /// The number of due segments, counting each track's.
        public var segments = 0
        /// The runs of segments that could not be decrypted.
        public var gaps: [Gap] = []
        /// The licenses that the device accepted, including renewals.
        public var licenses: [IssuedLicense] = []
        /// The renewals that the loader requested.
        public var renewals: [Renewal] = []
        /// The key requests that were answered with an error, or with a CKC that the device rejected.
        public var failures: [Failure] = []
        /// The keys that the loader reported as ended.
        public var ends: [End] = []

        /// A run of segments of one key that were due and could not be decrypted.
        public struct Gap: Sendable, Hashable {
            /// The key's URI.
            public let key: KeyURI
            /// When the first one was due.
            public let start: Duration
            /// Their total duration.
            public internal(set) var duration: Duration
        }

        /// A license that the device accepted.
        public struct IssuedLicense: Sendable, Hashable {
            /// The key's URI.
            public let key: KeyURI
            /// The purpose of its request.
            public let purpose: KeyPurpose
            /// When it arrived.
            public let time: Duration
        }

        /// A renewal that the loader requested.
        public struct Renewal: Sendable, Hashable {
            /// The key's URI.
            public let key: KeyURI
            /// When the loader requested it.
            public let time: Duration
            /// The age of the key: the time since its latest license arrived.
            public let age: Duration
            /// The lease of that license; `nil` without one.
            public let lease: Duration?
        }

        /// A key request that failed.
        public struct Failure: Sendable {
            /// The key's URI.
            public let key: KeyURI
            /// The purpose of the request.
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
            /// The reason.
            public let error: ContentKeyError
        }
    }
}
