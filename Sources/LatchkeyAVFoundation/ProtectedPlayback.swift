#if canImport(AVFoundation) && canImport(Observation) && !os(watchOS)
    public import AVFoundation
    public import Latchkey
    public import Observation

    /// A player with its keys: plays protected streams one after the other, and publishes the state that a view shows.
    ///
    ///     let playback = ProtectedPlayback(loader)
    ///     playback.play(stream, as: "movie-1")
    ///
    /// Show `player` in a view and `problem` to the viewer. Call `stop()` when the view disappears: until then the keys are
    /// renewed. After a reset of the media services it has another player. Several instances, such as a mini player's and a
    /// main player's, may share a loader.
    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    @MainActor @Observable public final class ProtectedPlayback {
        /// The reason for an interruption, and how playback recovered.
        public nonisolated enum Recovery: Sendable, Hashable {
            /// The media services were reset. `player` is a new one, at the last position that the old one knew, and is
            /// paused: the system expects the viewer to resume. Set up the app's audio session again.
            case mediaServicesReset
            /// FairPlay was stuck, and playback started over with a new key session.
            case stuck
        }

        /// The player. Replaced after the media services were reset.
        public private(set) var player: AVPlayer
        /// The reason that the title does not play, or will soon stop; `nil` if no problem is known. `viewerMessage` has words
        /// for the viewer.
        public private(set) var problem: KeyFailure?
        /// The key session's last event for the title, other than an accepted key.
        public private(set) var notice: AVPlayerKeys.Notice?
        /// The last interruption of the title, or `nil`.
        public private(set) var recovery: Recovery?
        /// Whether the picture is black, because a display does not protect it as its license requires (HDCP).
        public private(set) var isOutputObscured = false

        /// The keys, for uses other than playback. The app may read `outcomes`.
        public let keys: AVPlayerKeys

        private struct Title {
            let name: AssetID?
            let make: @MainActor () -> AVURLAsset
            let asset: AVURLAsset
        }

        @ObservationIgnored private let end: @Sendable () -> Void
        @ObservationIgnored private let makePlayer: @MainActor () -> AVPlayer
        @ObservationIgnored private var title: Title?
        /// The position of the item and whether it plays, once it is ready; `nil` to play from the beginning.
        @ObservationIgnored private var start: (position: CMTime, plays: Bool)?
        @ObservationIgnored private var playerObservations: [NSKeyValueObservation] = []
        @ObservationIgnored private var itemObservation: NSKeyValueObservation?
        @ObservationIgnored private var resets: NotificationWatch?
        /// The number of unsuccessful restarts.
        @ObservationIgnored private var attempts = 0

        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - options: The settings of the key session. The defaults suit production.
        ///   - makePlayer: Creates the player, again after each reset of the media services. Defaults to a plain one.
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

        /// Plays a stream instead of the previous one, whose keys are released.
        /// - Parameters:
        ///   - stream: The URL of the stream, or of a downloaded one.
        ///   - name: The app's name for the title, as in `AVPlayerKeys.protect(_:as:)`. Defaults to `nil`.
        public func play(_ stream: URL, as name: AssetID? = nil) {
            play(as: name) { AVURLAsset(url: stream) }
        }

        /// Plays an asset with its own options, such as cookies, instead of the previous one.
        /// - Parameters:
        ///   - name: The app's name for the title. Defaults to `nil`.
        ///   - make: Creates the asset, and another one for each restart: an asset has one key session.
        public func play(as name: AssetID? = nil, _ make: @escaping @MainActor () -> AVURLAsset) {
            (notice, recovery, attempts) = (nil, nil, 0)
            begin(name, make, at: .zero, plays: true)
        }

        /// Plays the title again from its last position, and requests its keys again, for example after a sign-in or a purchase.
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
                // Before the next asset is protected, which takes over the keys of the same title.
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
                // Late failures of the previous title are ignored.
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
                // A live stream has no duration, and continues at the live position.
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

        /// Nothing created before a reset plays afterwards, whether it has failed yet or not.
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

    /// Observes a notification for its lifetime.
    // Sound: the observer is set once, and is used again only when no other reference to this object exists.
    private nonisolated final class NotificationWatch: @unchecked Sendable {
        private let observer: any NSObjectProtocol

        init(_ name: NSNotification.Name, of object: Any?, _ take: @escaping @Sendable () -> Void) {
            observer = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { _ in take() }
        }

        deinit { NotificationCenter.default.removeObserver(observer) }
    }
#endif
