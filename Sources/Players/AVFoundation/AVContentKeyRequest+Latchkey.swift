#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyCore

    extension KeyURI {
        /// The key that AVFoundation names by a text or an URL; empty where it names none.
        init(avIdentifier identifier: Any?) {
            switch identifier {
            case let text as String: self.init(text)
            case let url as URL: self.init(url.absoluteString)
            case let url as NSURL: self.init((url as URL).absoluteString)
            default: self.init("")
            }
        }
    }

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

    extension ContentKeySessionBridge.State {
        func owner(of request: AVContentKeyRequest) -> ObjectIdentifier? {
            if let asset = request.asset { return asset }
            let living = assets.compactMap(\.asset)
            return living.count == 1 ? living.first.map(ObjectIdentifier.init) : nil
        }
    }
#endif
