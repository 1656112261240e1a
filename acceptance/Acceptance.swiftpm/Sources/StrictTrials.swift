import AVFoundation
import Latchkey
import LatchkeyAVFoundation

/// Trials of behavior that the stand-in refuses because no public source says how a device behaves.
extension Trials {
    /// Comes back to a stream after the lease of its key.
    func returnAfterLease() async throws -> Finding {
        guard let lease = setup.lease else {
            return Finding(outcome: .skipped, note: "The setup states no lease, in seconds.")
        }
        let loader = try setup.loader()
        let watch = KeyWatch()
        let events = loader.events()
        let following = Task { await watch.follow(events) }
        defer { following.cancel() }
        let keys = makeKeys(loader, AVPlayerKeys.Options(), watch)
        var moved: [Bool] = []
        for wait in [lease + 10, 0] {
            let asset = AVURLAsset(url: setup.stream)
            keys.protect(asset)
            moved.append(await moves(AVPlayerItem(asset: asset)))
            player.replaceCurrentItem(with: nil)
            keys.release(asset)
            try await Task.sleep(for: .seconds(wait))
        }
        let summary = await watch.summary
        return Finding(
            outcome: moved == [true, true] ? .seen : .different, note: "picture moves: \(moved); \(summary)")
    }

    /// Plays the stream with itself as an interstitial, whose asset was made for the primary one.
    func interstitial() async throws -> Finding {
        let watch = KeyWatch()
        let keys = makeKeys(try setup.loader(), AVPlayerKeys.Options(), watch)
        let asset = AVURLAsset(url: setup.stream)
        keys.protect(asset)
        let primary = AVPlayerItem(asset: asset)
        let ad = AVURLAsset(
            url: setup.stream, options: [AVURLAssetPrimarySessionIdentifierKey: asset.httpSessionIdentifier])
        keys.protect(ad)
        let event = AVPlayerInterstitialEvent(primaryItem: primary, time: .zero)
        event.templateItems = [AVPlayerItem(asset: ad)]
        let controller = AVPlayerInterstitialEventController(primaryPlayer: player)
        controller.events = [event]
        _ = await moves(primary)
        let played = controller.interstitialPlayer.currentItem?.asset
        controller.events = []
        return Finding(
            outcome: played === ad ? .seen : .different,
            note:
                "an interstitial plays: \(played != nil), its asset is the app's: \(played === ad); \(await watch.summary)"
        )
    }

    /// Answers a key's request with the stored key of another one.
    func foreignStoredKey() async throws -> Finding {
        let found = await (try setup.loader()).preload(setup.stream)
        guard found.keys.count > 1 else { return Finding(outcome: .skipped, note: "The stream has one key.") }
        let swapped = SwappedStore(store)
        let loader = try setup.loader(store: swapped)
        try await StoredKeys(loader).storeKeys(Set(found.keys.map(\.uri)), of: "acceptance-swapped")
        swapped.swap()
        let watch = KeyWatch()
        let keys = makeKeys(loader, AVPlayerKeys.Options(), watch)
        let asset = AVURLAsset(url: setup.stream)
        keys.protect(asset)
        let item = AVPlayerItem(asset: asset)
        let moved = await moves(item)
        try await loader.offline?.delete("acceptance-swapped")
        let failures = await watch.failures
        return Finding(
            outcome: !failures.isEmpty || item.error != nil ? .seen : .different,
            note: "picture moves: \(moved); item: \(item.error.map(describe) ?? "no error"); failures: \(failures)")
    }

    /// Answers renewals with an error.
    func refusedRenewal() async throws -> Finding {
        guard let lease = setup.lease else {
            return Finding(outcome: .skipped, note: "The setup states no lease, in seconds.")
        }
        let played = try await play(loader: setup.loader(refusesRenewals: true)) { _ in true }
        try await Task.sleep(for: .seconds(Double(lease) * 0.9 - 5))
        let before = player.currentTime().seconds
        try await Task.sleep(for: .seconds(2))
        let goesOn = player.currentTime().seconds > before
        return Finding(outcome: goesOn ? .seen : .different, note: "\(played.note); goes on before the end: \(goesOn)")
    }

    /// Plays the asset that downloads.
    func playWhileDownloading() async throws -> Finding {
        let loader = try setup.loader(store: store)
        let found = await loader.preload(setup.stream)
        let watch = KeyWatch()
        let keys = makeKeys(loader, AVPlayerKeys.Options(), watch)
        let (events, continuation) = AsyncStream<OfflineDownloadEvent>.makeStream()
        let downloads = OfflineDownloads(loader, identifier: "acceptance-playing") { continuation.yield($0) }
        let asset = AVURLAsset(url: setup.stream)
        try await downloads.begin(
            "acceptance-playing", title: "Acceptance", from: asset, keys: Set(found.keys.map(\.uri)), protectedBy: keys)
        let moved = await moves(AVPlayerItem(asset: asset))
        for await event in events {
            if case .progressed = event { continue }
            let before = player.currentTime().seconds
            try await Task.sleep(for: .seconds(3))
            let goesOn = player.currentTime().seconds > before
            return Finding(
                outcome: moved && goesOn ? .seen : .different,
                note: "picture moves: \(moved); goes on after the download: \(goesOn); \(await watch.summary)")
        }
        return Finding(outcome: .different, note: "The download told of no end.")
    }

    /// Downloads an asset that a session knows, and one that no session knows.
    func askingDownload() async -> Finding {
        let delegate = RawDelegate()
        let keys = AVContentKeySession(keySystem: .fairPlayStreaming)
        keys.setDelegate(delegate, queue: delegate.queue)
        let known = AVURLAsset(url: setup.stream)
        keys.addContentKeyRecipient(known)
        let end = EndOfDownload()
        let session = AVAssetDownloadURLSession(
            configuration: .background(withIdentifier: "acceptance-asking"), assetDownloadDelegate: end,
            delegateQueue: nil)
        var notes: [String] = []
        for asset in [known, AVURLAsset(url: setup.stream)] {
            let task = session.makeAssetDownloadTask(
                downloadConfiguration: AVAssetDownloadConfiguration(asset: asset, title: "Acceptance"))
            task.resume()
            try? await Task.sleep(for: .seconds(20))
            task.cancel()
            notes.append(end.takeError() ?? "no error within 20 s")
        }
        session.finishTasksAndInvalidate()
        keys.expire()
        return Finding(
            outcome: delegate.count > 0 ? .seen : .different,
            note: "requests: \(delegate.count); with a session: \(notes[0]); without: \(notes[1])")
    }

    /// Looks who is asked for a key where an asset has a session and a loader's delegate, and where an SPC comes.
    func lookAtQueues(withLoader: Bool) async throws -> Finding {
        let delegate = RawDelegate(certificate: try await setup.loader().applicationCertificate().bytes)
        let session = AVContentKeySession(keySystem: .fairPlayStreaming)
        session.setDelegate(delegate, queue: delegate.queue)
        let asset = AVURLAsset(url: setup.stream)
        let loads = LoadDelegate()
        if withLoader { asset.resourceLoader.setDelegate(loads, queue: delegate.queue) }
        session.addContentKeyRecipient(asset)
        _ = await moves(AVPlayerItem(asset: asset))
        session.expire()
        let note = "session: \(delegate.count), loader: \(loads.count), SPC: \(delegate.spcPlace ?? "none came")"
        return Finding(outcome: delegate.count + loads.count > 0 ? .seen : .different, note: note)
    }
}

/// A store in which two keys can change places.
private nonisolated final class SwappedStore: PersistableKeyStore, @unchecked Sendable {
    private let base: FileKeyStore
    // Sound: set once, before anything reads it again.
    private var isSwapped = false

    init(_ base: FileKeyStore) { self.base = base }

    func swap() { isSwapped = true }
    func items() async throws -> Set<StoredItem> { try await base.items() }
    func write(_ bytes: Secret, to item: StoredItem) async throws { try await base.write(bytes, to: item) }
    func remove(_ item: StoredItem) async throws { try await base.remove(item) }

    func bytes(of item: StoredItem) async throws -> Secret? {
        let keys = try await items().filter { $0.rawValue.hasSuffix(".key") }.sorted { $0.rawValue < $1.rawValue }
        guard isSwapped, keys.count > 1, let index = keys.firstIndex(of: item) else {
            return try await base.bytes(of: item)
        }
        return try await base.bytes(of: keys[(index + 1) % keys.count])
    }
}

/// Counts the requests to a resource loader, and answers none.
private nonisolated final class LoadDelegate: NSObject, AVAssetResourceLoaderDelegate, @unchecked Sendable {
    // Sound: read after the requests, and changed on one queue.
    private(set) var count = 0

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool {
        count += 1
        return false
    }
}

/// Keeps the error of a download.
private nonisolated final class EndOfDownload: NSObject, AVAssetDownloadDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var error: String?

    func takeError() -> String? {
        lock.withLock {
            defer { error = nil }
            return error
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let error = error as NSError?, error.code != NSURLErrorCancelled else { return }
        lock.withLock { self.error = "\(error.domain) \(error.code)" }
    }
}
