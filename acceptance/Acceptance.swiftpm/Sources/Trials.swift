import AVFoundation
import Latchkey
import LatchkeyAVFoundation

/// Makes the observations that need no person.
@MainActor
final class Trials {
    let setup: Setup
    /// The view of a player's SDK, for the list's upper half.
    var shown: AnyObject?
    /// Objects that a player's SDK holds weakly, or not at all.
    var held: [AnyObject] = []
    let player = AVPlayer()
    private var keys: AVPlayerKeys?
    private var loaderKeys: ResourceLoaderKeys?
    let store = FileKeyStore(
        folder: URL(fileURLWithPath: NSHomeDirectory()).appending(path: "Documents/keys"))

    init(_ setup: Setup) { self.setup = setup }

    /// Makes one observation.
    /// - Returns: The finding; `nil` if only a person can make the observation.
    func finding(for id: String) async -> Finding? {
        do {
            switch id {
            case "play": return try await play { $0.failures.isEmpty && $0.licenses > 0 && $0.succeeded >= $0.licenses }
            case "identifier", "queue": return await look(id)
            case "refusal": return try await refusal()
            case "persistable": return try await storing()
            case "progress": return try await download()
            case "pause": return try await pausedDownload()
            case "stored-renewal": return try await storedRenewal()
            case "jwplayer", "theoplayer", "connect", "tvsdk": return try await playInAnotherPlayer(id)
            case "renewal": return try await renewal()
            case "token": return try await expirationToken()
            case "revoke": return try await revoke()
            case "resource-loader": return try await playByResourceLoader()
            case "advisory": return try await advisory()
            case "return-after-lease": return try await returnAfterLease()
            case "interstitial": return try await interstitial()
            case "foreign-stored-key": return try await foreignStoredKey()
            case "download-keys": return await askingDownload()
            case "play-while-downloading": return try await playWhileDownloading()
            case "spc-queue": return try await lookAtQueues(withLoader: false)
            case "session-and-loader": return try await lookAtQueues(withLoader: true)
            case "renewal-refused": return try await refusedRenewal()
            default: return nil
            }
        } catch {
            return Finding(outcome: .different, note: describe(error))
        }
    }

    /// The counts of a watch.
    struct Counts: Sendable {
        let licenses: Int
        let held: Int
        let succeeded: Int
        let failures: [String]
        let summary: String
    }

    func play(
        _ options: AVPlayerKeys.Options = AVPlayerKeys.Options(), loader: ContentKeyLoader? = nil,
        isRight: (Counts) -> Bool
    ) async throws -> Finding {
        let loader = try loader ?? setup.loader()
        let watch = KeyWatch()
        let events = loader.events()
        let following = Task { await watch.follow(events) }
        defer { following.cancel() }
        let keys = makeKeys(loader, options, watch)
        let asset = AVURLAsset(url: setup.stream)
        keys.protect(asset)
        let moved = await moves(AVPlayerItem(asset: asset))
        let counts = Counts(
            licenses: await watch.licenses, held: await watch.held, succeeded: await watch.succeeded,
            failures: await watch.failures, summary: await watch.summary)
        return Finding(
            outcome: moved && isRight(counts) ? .seen : .different, note: "picture moves: \(moved); \(counts.summary)")
    }

    /// Makes the keys of a play, and keeps them.
    func makeKeys(
        _ loader: ContentKeyLoader, _ options: AVPlayerKeys.Options, _ watch: KeyWatch
    ) -> AVPlayerKeys {
        let keys = AVPlayerKeys(loader, options: options) { notice in
            Task { await watch.note(notice) }
        } onFailure: { failure in
            Task { await watch.note(failure) }
        }
        self.keys = keys
        return keys
    }

    /// Whether an item plays for two seconds within twenty.
    func moves(_ item: AVPlayerItem) async -> Bool {
        player.replaceCurrentItem(with: item)
        player.play()
        for _ in 0..<40 {
            try? await Task.sleep(for: .milliseconds(500))
            if item.status == .failed { return false }
            if player.currentTime().seconds > 2 { return true }
        }
        return false
    }

    /// Looks at the first request of a session of the app's own.
    private func look(_ id: String) async -> Finding {
        let delegate = RawDelegate()
        let session = AVContentKeySession(keySystem: .fairPlayStreaming)
        session.setDelegate(delegate, queue: delegate.queue)
        let asset = AVURLAsset(url: setup.stream)
        session.addContentKeyRecipient(asset)
        _ = await moves(AVPlayerItem(asset: asset))
        session.expire()
        var looks = delegate.looks.makeAsyncIterator()
        guard let look = await looks.next() else { return Finding(outcome: .different, note: "No request came.") }
        let isRight = id == "identifier" ? look.hasKeyScheme : look.isOnQueue && !look.isMainThread
        return Finding(
            outcome: isRight ? .seen : .different,
            note:
                "type \(look.identifierType), skd \(look.hasKeyScheme), on its queue \(look.isOnQueue), main \(look.isMainThread), "
                + "can be persistable \(look.canBePersistable)")
    }

    private func download() async throws -> Finding {
        let loader = try setup.loader(store: store)
        let found = await loader.preload(setup.stream)
        let (events, continuation) = AsyncStream<OfflineDownloadEvent>.makeStream()
        let downloads = OfflineDownloads(loader, identifier: "acceptance") { continuation.yield($0) }
        try await downloads.begin(
            "acceptance", title: "Acceptance", from: setup.stream, keys: Set(found.keys.map(\.uri)))
        var shares: [Double] = []
        for await event in events {
            switch event {
            case .progressed(_, let share): shares.append(share)
            case .finished(_, let location):
                UserDefaults.standard.set(try JSONEncoder().encode(location), forKey: "download")
                let rises = zip(shares, shares.dropFirst()).allSatisfy { $0 <= $1 }
                return Finding(
                    outcome: shares.count > 1 && rises ? .seen : .different,
                    note: "shares: \(shares.count), last \(shares.last ?? 0), rising: \(rises)")
            case .cancelled: return Finding(outcome: .different, note: "cancelled")
            case .failed(_, let error, _): return Finding(outcome: .different, note: describe(error))
            }
        }
        return Finding(outcome: .different, note: "The download told of no end.")
    }

    private func pausedDownload() async throws -> Finding {
        let loader = try setup.loader(store: store)
        let found = await loader.preload(setup.stream)
        let (events, continuation) = AsyncStream<OfflineDownloadEvent>.makeStream()
        let downloads = OfflineDownloads(loader, identifier: "acceptance") { continuation.yield($0) }
        try await downloads.begin(
            "acceptance-pause", title: "Acceptance", from: setup.stream, keys: Set(found.keys.map(\.uri)))
        downloads.pause("acceptance-pause")
        try await Task.sleep(for: .seconds(5))
        let paused = try await downloads.running()
        downloads.resume("acceptance-pause")
        let resumed = try await downloads.running()
        downloads.cancel("acceptance-pause")
        for await event in events {
            guard case .progressed = event else {
                let isCancelled = if case .cancelled = event { true } else { false }
                let isRight = isCancelled && paused.map(\.isPaused) == [true] && resumed.map(\.isPaused) == [false]
                return Finding(
                    outcome: isRight ? .seen : .different,
                    note:
                        "paused: \(paused.map(\.isPaused)), resumed: \(resumed.map(\.isPaused)), cancelled: \(isCancelled)"
                )
            }
        }
        return Finding(outcome: .different, note: "The download told of no end.")
    }

    private func storedRenewal() async throws -> Finding {
        let renewals = try await StoredKeys(try setup.loader(store: store)).renewKeys(of: "acceptance")
        guard !renewals.isEmpty else { return Finding(outcome: .skipped, note: "No key is stored.") }
        let failures = renewals.compactMap(\.failure).map { "\($0.error.domain) \($0.error.code)" }
        return Finding(
            outcome: failures.isEmpty ? .seen : .different, note: "keys: \(renewals.count), failures: \(failures)")
    }

    private func renewal() async throws -> Finding {
        guard let lease = setup.lease else {
            return Finding(outcome: .skipped, note: "The setup states no lease, in seconds.")
        }
        let loader = try setup.loader()
        let watch = KeyWatch()
        let events = loader.events()
        let following = Task { await watch.follow(events) }
        defer { following.cancel() }
        let played = try await play(loader: loader) { $0.failures.isEmpty }
        try await Task.sleep(for: .seconds(lease + 10))
        let before = player.currentTime().seconds
        try await Task.sleep(for: .seconds(3))
        let goesOn = player.currentTime().seconds > before
        let renewals = await watch.renewals
        return Finding(
            outcome: goesOn && renewals > 0 ? .seen : .different,
            note: "\(played.note); goes on: \(goesOn); renewals: \(renewals)")
    }

    private func refusal() async throws -> Finding {
        let watch = KeyWatch()
        let keys = makeKeys(try setup.loader(refused: true), AVPlayerKeys.Options(), watch)
        let asset = AVURLAsset(url: setup.stream)
        keys.protect(asset)
        let item = AVPlayerItem(asset: asset)
        let moved = await moves(item)
        var error = item.error as NSError?
        var chain: [String] = []
        while let next = error {
            chain.append("\(next.domain) \(next.code)")
            error = next.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        let isNamed = chain.contains { $0.hasPrefix(ContentKeyError.errorDomain) }
        return Finding(
            outcome: !moved && isNamed ? .seen : .different,
            note: "item: \(chain); failures: \(await watch.failures)")
    }

    private func storing() async throws -> Finding {
        let loader = try setup.loader(store: store)
        let found = await loader.preload(setup.stream)
        try await StoredKeys(loader).storeKeys(Set(found.keys.map(\.uri)), of: "acceptance")
        let isReady = try await loader.offline?.asset("acceptance")?.isReady == true
        return Finding(outcome: isReady ? .seen : .different, note: "keys: \(found.keys.count), ready: \(isReady)")
    }

    private func expirationToken() async throws -> Finding {
        let loader = try setup.loader(store: store)
        guard let key = try await loader.offline?.asset("acceptance")?.keys.first?.uri else {
            return Finding(outcome: .skipped, note: "No key is stored.")
        }
        let token = try await AVPlayerKeys(loader, onFailure: { _ in }).expirationToken(for: key)
        return Finding(outcome: .seen, note: "\(token.count) bytes")
    }

    private func revoke() async throws -> Finding {
        let found = await (try setup.loader()).preload(setup.stream)
        let played = try await play { $0.failures.isEmpty }
        guard #available(iOS 17.4, *), let keys, let key = found.keys.first?.uri else {
            return Finding(outcome: .skipped, note: "This system has no revocation.")
        }
        let isRevoked = keys.revoke(key)
        return Finding(outcome: isRevoked ? .seen : .different, note: "\(played.note); revoked: \(isRevoked)")
    }

    private func playByResourceLoader() async throws -> Finding {
        let watch = KeyWatch()
        let keys = ResourceLoaderKeys(try setup.loader()) { failure in Task { await watch.note(failure) } }
        loaderKeys = keys
        let asset = AVURLAsset(url: setup.stream)
        keys.protect(asset)
        let moved = await moves(AVPlayerItem(asset: asset))
        return Finding(outcome: moved ? .seen : .different, note: "picture moves: \(moved); \(await watch.summary)")
    }

    private func advisory() async throws -> Finding {
        guard #available(iOS 27, *) else { return Finding(outcome: .skipped, note: "Before iOS 27.") }
        var options = AVPlayerKeys.Options()
        options.usesAdvisoryKeys = true
        _ = try await play(options) { _ in true }
        return try await play(options) { $0.failures.isEmpty && $0.licenses + $0.held > 0 }
    }

    /// Plays the download, for the observation in airplane mode.
    func playDownload() {
        guard let kept = UserDefaults.standard.data(forKey: "download"),
            let location = try? JSONDecoder().decode(OfflineLocation.self, from: kept),
            let loader = try? setup.loader(store: store)
        else { return }
        let keys = makeKeys(loader, AVPlayerKeys.Options(), KeyWatch())
        let asset = AVURLAsset(url: location.url)
        keys.protect(asset)
        player.replaceCurrentItem(with: AVPlayerItem(asset: asset))
        player.play()
    }

    /// An error without addresses.
    func describe(_ error: any Error) -> String {
        let error = error as NSError
        return "\(error.domain) \(error.code)"
    }
}
