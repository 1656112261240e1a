#if canImport(AVFoundation)
    import AVFoundation
    import Latchkey

    nonisolated extension AVContentKeyRequest {
        /// Asks for a persistable request in place of this one.
        ///
        /// Only the call itself can say whether there will be one: `canProvidePersistableContentKey` is true for persistable requests
        /// alone. Source: `Documentation/Players.md` §3.9c.
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
