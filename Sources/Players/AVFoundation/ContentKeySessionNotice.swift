#if canImport(AVFoundation)
    public import Foundation
    public import Latchkey

    /// What a content key session tells the app. Holds no secret but what key URIs may hold.
    public enum ContentKeySessionNotice: Sendable {
        /// AVFoundation took a key.
        case succeeded(KeyURI, KeyPurpose)
        /// A key did not come, was not taken, or ended.
        case failed(KeyFailure)
        /// A key that was to be stored is streamed, as the system cannot store it now; AirPlay is the usual reason.
        case streamedInstead(KeyURI)
        /// Keys stay away although nothing is wrong with them: call `rebuild()` and load the asset anew.
        case stuck
        /// The displays that are connected protect the picture as far as its key demands, or not.
        case protectionChanged(KeyURI, ExternalProtection)
        /// The content protection session has another identifier, for services that want it.
        case sessionIdentifierChanged(Data?)
        /// There are reports of expired sessions: see `expiredSessionReports()`.
        case reportsPending
    }

    /// Whether connected displays protect the picture as far as its key demands.
    public enum ExternalProtection: String, Sendable, Hashable {
        /// Not known yet.
        case pending
        /// They do.
        case sufficient
        /// They do not.
        case insufficient
    }

    /// Why a key did not come, was not taken, or ended.
    public struct KeyFailure: Error, Sendable {
        /// The key; nil where the failure concerns all.
        public let key: KeyURI?
        /// What the player was told or said, with domain and code.
        public let error: NSError
        /// What the loader said; nil where the failure is AVFoundation's.
        public let loaderError: ContentKeyError?
        /// What the number means; nil where nothing is known about it.
        public var explanation: FairPlayErrorExplanation? { FairPlayErrorExplanation.explaining(error) }

        init(_ error: ContentKeyError, key: KeyURI?) {
            self.key = key
            self.error = error.nsError
            loaderError = error
        }

        init(player error: any Error, key: KeyURI?) {
            self.key = key
            self.error = error as NSError
            loaderError = nil
        }
    }
#endif
