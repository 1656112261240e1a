#if canImport(AVFoundation)
    import AVFoundation
    @_spi(Adapters) import Latchkey

    // A streaming request whose key the license cache keeps becomes a persistable one: only of that does the system make a key that it
    // takes again. For the loader and the service it remains a streaming request.
    nonisolated extension AVPlayerKeys {
        /// Starts a streaming request, as one whose key can be kept if the cache wants it and the system can.
        func startForReplays(_ taken: SessionKeyRequest) {
            let key = taken.keyURI
            guard loader.licenseCache?.wants(key, of: taken.asset) == true else { return taken.start(loader) }
            changeSession(taken.session) { _ = $0.keptForReplays.insert(key) }
            do { try makePersistable(taken) } catch {
                changeSession(taken.session) { _ = $0.keptForReplays.remove(key) }
                // As with AirPlay: the receiver has a license of its own.
                taken.start(loader)
            }
        }

        /// Asks again for a key that could not be kept, or that AVFoundation turned down although it was: without the cache.
        func streamInstead(_ taken: SessionKeyRequest) {
            loader.licenseCache?.drop(taken.keyURI)
            if taken.reply.state.isAnswered || taken.reply.state.refusal?.kind == .persistableKeyFailed {
                request(taken.keyURI, again: taken.session)
            }
        }
    }

    nonisolated extension SessionKeyRequest {
        /// Whether its key can be kept for replays.
        var isForReplays: Bool { purpose == .streaming && self is PersistableSessionKeyRequest }
    }
#endif
