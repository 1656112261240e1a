#if canImport(AVFoundation)
    public import Foundation
    public import Latchkey

    nonisolated extension AVPlayerKeys {
        /// A session event other than a failure.
        public enum Notice: Sendable, Hashable {
            /// AVFoundation accepted a key.
            case succeeded(KeyURI, KeyPurpose)
            /// A key requested for storage is streamed, because the system cannot store it now; usually because of AirPlay.
            case streamedInstead(KeyURI)
            /// AVFoundation keeps failing although the keys are valid: call `replaceSession()` and make a new asset.
            case stuck
            /// The protection of the connected displays for a key's picture has changed.
            case protectionChanged(KeyURI, ExternalProtection)
            /// The content protection session has a new identifier, for services that need it; `nil` if it has none.
            case sessionIdentifierChanged(Data?)
            /// Reports of expired sessions are available: see `expiredSessionReports()`.
            case reportsPending
        }

        /// Whether the connected displays protect the picture as its key requires.
        public enum ExternalProtection: String, Sendable, Hashable {
            /// Not yet known.
            case pending
            /// They protect it.
            case sufficient
            /// They do not protect it.
            case insufficient
        }
    }
#endif
