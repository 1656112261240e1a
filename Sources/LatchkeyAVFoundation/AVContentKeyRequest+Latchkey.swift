#if canImport(AVFoundation)
    import AVFoundation
    import Latchkey

    nonisolated extension AVContentKeyRequest {
        /// Asks AVFoundation to replace this request with a persistable one.
        ///
        /// Only the call itself reveals whether that is possible: `canProvidePersistableContentKey` is true for persistable
        /// requests alone. Source: `Documentation/Players.md` §3.9c.
        /// - Throws: AVFoundation's error, or `keyNotStorable`, if the system cannot store the key now.
        func requestPersistable() throws {
            guard #available(tvOS 17, *) else { throw ContentKeyError.notPersistable }
            #if os(iOS)
                try respondByRequestingPersistableContentKeyRequestAndReturnError()
            #else
                try respondByRequestingPersistableContentKeyRequest()
            #endif
        }
    }
#endif
