#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyCore

    extension AVContentKeyRequest {
        /// Asks for a persistable request in place of this one.
        /// - Throws: where the system cannot store the key now.
        func requestPersistable() throws {
            guard canProvidePersistableContentKey, #available(tvOS 17, *) else { throw ContentKeyError.notPersistable }
            #if os(iOS)
                try respondByRequestingPersistableContentKeyRequestAndReturnError()
            #else
                try respondByRequestingPersistableContentKeyRequest()
            #endif
        }

        /// The asset that asks; nil where the system does not say.
        var asset: ObjectIdentifier? {
            guard #available(iOS 26, tvOS 26, macOS 26, visionOS 26, watchOS 26, *) else { return nil }
            return originatingRecipient.map(ObjectIdentifier.init)
        }
    }
#endif
