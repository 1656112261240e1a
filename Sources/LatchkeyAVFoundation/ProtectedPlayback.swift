#if canImport(AVFoundation) && canImport(Observation) && !os(watchOS)
    public import AVFoundation
    public import Latchkey
    public import Observation

    /// A player with its keys: plays protected streams one after the other, and has what a view shows of them.
    ///
    ///     let playback = ProtectedPlayback(loader)
    ///     playback.play(stream, as: "movie-1")
    ///
    /// Show `player` in a view, `problem` to the viewer, and call `stop()` when the view goes away: until then the keys are renewed. After a
    /// reset of the media services it has another player. Two of these, such as a mini player's and a main player's, may share a loader.
    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    @MainActor @Observable public final class ProtectedPlayback {
        /// What interrupted a title, and how it continues.
        public nonisolated enum Recovery: Sendable, Hashable {
            /// The media services were reset. `player` is a new one, at the same place as far as the old one knew it, and is paused: the
            /// system wants the viewer to resume. Set up the app's audio session anew.
            case mediaServicesReset
            /// FairPlay was stuck, and playback started over with a new key session.
            case stuck
        }

        /// The player. Another one takes its place after the media services were reset.
        public private(set) var player: AVPlayer
        /// Why the title does not play, or soon stops; `nil` if nothing is known to be wrong. `viewerMessage` has words for the viewer.
        public private(set) var problem: KeyFailure?
        /// What the key session reported last about the title, other than that it took a key.
        public private(set) var notice: AVPlayerKeys.Notice?
        /// What interrupted the title last; `nil` if nothing did.
        public private(set) var recovery: Recovery?
        /// Whether the picture is black, because a display does not protect it as its license demands (HDCP).
        public private(set) var isOutputObscured = false

        /// The keys, for all that is not playback. `outcomes` is the app's to read.
        public let keys: AVPlayerKeys

        private struct Title {
            let name: AssetID?
            let make: @MainActor () -> AVURLAsset
            let asset: AVURLAsset
        }

        @ObservationIgnored private let end: @Sendable () -> Void
        @ObservationIgnored private let makePlayer: @MainActor () -> AVPlayer
        @ObservationIgnored private var title: Title?
        /// Where the item is to be, and whether it plays, as soon as it is ready; `nil` if it just plays from its beginning.
        @ObservationIgnored private var start: (position: CMTime, plays: Bool)?
        @ObservationIgnored private var playerObservations: [NSKeyValueObservation] = []
        @ObservationIgnored private var itemObservation: NSKeyValueObservation?
        @ObservationIgnored private var resets: NotificationWatch?
        /// How often playback started over and came to nothing.
        @ObservationIgnored private var attempts = 0

        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - options: The settings of the key session. Defaults to what production wants.
        ///   - makePlayer: Makes the player, also again after a reset of the media services. Defaults to a plain one.
        public init(
            _ loader: ContentKeyLoader, options: AVPlayerKeys.Options = AVPlayerKeys.Options(),
            makePlayer: @escaping @MainActor () -> AVPlayer = { AVPlayer() }
        ) {
            let (outcomes, continuation) = AsyncStream<AVPlayerKeys.Outcome>.makeStream()
            keys = AVPlayerKeys(loader, options: options) { continuation.yield($0) }
            end = { continuation.finish() }
            self.makePlayer = makePlayer
            player = makePlayer()
            observePlayer()
            watchResets()
            Task { [weak self] in
                for await outcome in outcomes { self?.take(outcome) }
            }
        }

        deinit { end() }

        /// Plays a stream instead of the one before, whose keys are released.
        /// - Parameters:
        ///   - stream: The stream, or the place of a downloaded one.
        ///   - name: The app's name for the title, as in `AVPlayerKeys.protect(_:as:)`. Defaults to `nil`.
        public func play(_ stream: URL, as name: AssetID? = nil) {
            play(as: name) { AVURLAsset(url: stream) }
        }

        /// Plays an asset with options of its own, such as cookies, instead of the one before.
        /// - Parameters:
        ///   - name: The app's name for the title. Defaults to `nil`.
        ///   - make: Makes the asset, and another one each time that playback starts over: an asset has one key session.
        public func play(as name: AssetID? = nil, _ make: @escaping @MainActor () -> AVURLAsset) {
            (notice, recovery, attempts) = (nil, nil, 0)
            begin(name, make, at: .zero, plays: true)
        }

        /// Plays the title again from where it was, and asks for its keys again, as after a sign-in or a purchase.
        public func tryAgain() {
            guard let title else { return }
            (recovery, attempts) = (nil, 0)
            begin(title.name, title.make, at: player.currentTime(), plays: true)
        }

        /// Ends playback and releases the title's keys.
        public func stop() {
            player.replaceCurrentItem(with: nil)
            itemObservation = nil
            if let title { keys.release(title.asset) }
            (title, start, problem, notice, recovery) = (nil, nil, nil, nil, nil)
        }
    }

    // MARK: - What happens

    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    @MainActor extension ProtectedPlayback {
        private func begin(
            _ name: AssetID?, _ make: @escaping @MainActor () -> AVURLAsset, at position: CMTime, plays: Bool
        ) {
            if let last = title?.asset {
                // Before the next asset is protected, which takes over the keys if it is the same title.
                player.replaceCurrentItem(with: nil)
                keys.release(last)
            }
            let asset = make()
            keys.protect(asset, as: name)
            let item = AVPlayerItem(asset: asset)
            (title, problem) = (Title(name: name, make: make, asset: asset), nil)
            start = position.seconds > 0 ? (position, plays) : nil
            itemObservation = item.observe(\.status, options: .initial) { [weak self] item, _ in
                Task { @MainActor in self?.look(at: item) }
            }
            player.replaceCurrentItem(with: item)
            if plays, start == nil { player.play() }
        }

        private func take(_ outcome: AVPlayerKeys.Outcome) {
            guard let title else { return }
            switch outcome {
            case .failure(let failure):
                // Those of the title before are late.
                if failure.asset == nil || failure.asset == title.name { problem = failure }
            case .notice(.stuck): startOver(after: .stuck)
            case .notice(.succeeded(let key, _)): if problem?.key == key { problem = nil }
            case .notice(let notice): self.notice = notice
            case .cancellation, .dropped: break
            }
        }

        private func look(at item: AVPlayerItem) {
            guard item === player.currentItem, let title else { return }
            switch item.status {
            case .readyToPlay:
                attempts = 0
                guard let start else { return }
                self.start = nil
                // A live stream has no duration, and continues where it is now.
                if item.duration.seconds.isFinite { player.seek(to: start.position) }
                if start.plays { player.play() }
            case .failed:
                let error = item.error ?? player.error ?? AVError(.unknown)
                if error.isMediaServicesReset, startOver(after: .mediaServicesReset) { return }
                if problem == nil { problem = KeyFailure(player: error, asset: title.name) }
            default: break
            }
        }
    }

    // MARK: - Starting over

    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    @MainActor extension ProtectedPlayback {
        /// - Returns: `false` if it was tried too often.
        @discardableResult
        private func startOver(after cause: Recovery) -> Bool {
            guard attempts < 3 else { return false }
            attempts += 1
            let position = player.currentTime()
            keys.replaceSession()
            if cause == .mediaServicesReset {
                player.replaceCurrentItem(with: nil)
                player = makePlayer()
                observePlayer()
            }
            guard let title else { return true }
            recovery = cause
            begin(title.name, title.make, at: start?.position ?? position, plays: cause == .stuck)
            return true
        }

        /// Nothing of before a reset plays, whether it has failed yet or not.
        private func watchResets() {
            #if !os(macOS)
                let session = AVAudioSession.sharedInstance()
                resets = NotificationWatch(AVAudioSession.mediaServicesWereResetNotification, of: session) {
                    [weak self] in
                    Task { @MainActor in
                        self?.attempts = 0
                        self?.startOver(after: .mediaServicesReset)
                    }
                }
            #endif
        }

        private func observePlayer() {
            let output = \AVPlayer.isOutputObscuredDueToInsufficientExternalProtection
            playerObservations = [
                player.observe(output, options: .initial) { [weak self] player, _ in
                    Task { @MainActor in
                        guard let self, player === self.player else { return }
                        self.isOutputObscured = player.isOutputObscuredDueToInsufficientExternalProtection
                    }
                },
                player.observe(\.status) { [weak self] player, _ in
                    Task { @MainActor in
                        guard let self, player === self.player, let item = player.currentItem else { return }
                        self.look(at: item)
                    }
                },
            ]
        }
    }

    nonisolated extension Error {
        fileprivate var isMediaServicesReset: Bool {
            let error = self as NSError
            return error.domain == AVFoundationErrorDomain && error.code == AVError.mediaServicesWereReset.rawValue
        }
    }

    /// Observes a notification as long as it lives.
    // Sound: the observer is set once, and is used again only when nothing else has this object.
    private nonisolated final class NotificationWatch: @unchecked Sendable {
        private let observer: any NSObjectProtocol

        init(_ name: NSNotification.Name, of object: Any?, _ take: @escaping @Sendable () -> Void) {
            observer = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { _ in take() }
        }

        deinit { NotificationCenter.default.removeObserver(observer) }
    }
#endif
