#if canImport(AVFoundation)
    public import Foundation
    public import Latchkey

    nonisolated extension AVPlayerKeys {
        /// What the session reports beyond failures.
        public enum Notice: Sendable, Hashable {
            /// AVFoundation took a key.
            case succeeded(KeyURI, KeyPurpose)
            /// A key that was to be stored is streamed, because the system cannot store it now; usually because of AirPlay.
            case streamedInstead(KeyURI)
            /// AVFoundation keeps failing although the keys are good: call `replaceSession()` and make a new asset.
            case stuck
            /// Whether the connected displays protect the picture of a key has changed.
            case protectionChanged(KeyURI, ExternalProtection)
            /// The content protection session has another identifier, for services that want it; `nil` if it has none.
            case sessionIdentifierChanged(Data?)
            /// There are reports of expired sessions: see `expiredSessionReports()`.
            case reportsPending
        }

        /// Whether the connected displays protect the picture as far as its key demands.
        public enum ExternalProtection: String, Sendable, Hashable {
            /// Not known yet.
            case pending
            /// They do.
            case sufficient
            /// They do not.
            case insufficient
        }
    }
#endif
