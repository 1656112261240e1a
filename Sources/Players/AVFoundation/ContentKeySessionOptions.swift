#if canImport(AVFoundation)
    public import Foundation
    public import Latchkey

    /// What can be set about a content key session. The defaults are for production.
    public struct ContentKeySessionOptions: Sendable {
        /// Options of every SPC, by AVFoundation's names, such as `AVContentKeyRequestProtocolVersionsKey`; none unless given.
        public var keyRequest: [String: any Sendable]
        /// The folder in which AVFoundation keeps the reports of expired sessions; none unless given, and then it keeps none.
        public var reports: URL?
        /// How often a key is asked for again for one reason, such as a license that came too late; 3 unless given.
        public var retries: Int
        /// After how many stale SPCs in a row the session counts as stuck; 3 unless given.
        public var stuckAfter: Int

        /// What becomes of a key that is stored already; it answers unless given.
        public var storedKeys: StoredKeyUse

        /// Makes options.
        public init(
            keyRequest: [String: any Sendable] = [:], reports: URL? = nil, retries: Int = 3, stuckAfter: Int = 3,
            storedKeys: StoredKeyUse = .answers
        ) {
            self.keyRequest = keyRequest
            self.reports = reports
            self.retries = retries
            self.stuckAfter = stuckAfter
            self.storedKeys = storedKeys
        }
    }
#endif
