#if canImport(AVFoundation)
    import AVFoundation
    @_spi(Adapters) import Latchkey

    // If the license cache keeps a streaming request's key, the request becomes persistable: the system accepts a key again
    // only in that form. To the loader and the service it stays a streaming request.
    nonisolated extension AVPlayerKeys {
        /// Starts a streaming request. If the cache wants the key and the system can store it, the request becomes persistable.
        func startForReplays(_ taken: SessionKeyRequest) {
            let key = taken.keyURI
            guard loader.licenseCache?.wants(key, of: taken.asset) == true else { return taken.start(loader) }
            changeSession(taken.session) { _ = $0.keptForReplays.insert(key) }
            do { try makePersistable(taken) } catch {
                changeSession(taken.session) { _ = $0.keptForReplays.remove(key) }
                // As with AirPlay: the receiver gets its own license.
                taken.start(loader)
            }
        }

        /// Requests a key again without the cache, because it could not be kept or AVFoundation rejected the kept one.
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
