public import Foundation
import LatchkeyCore
import StandInEngine

/// Content that temporarily replaces an item, such as an advertisement.
///
/// The template items are not played themselves, and their assets only if they were made for the primary asset: see
/// `AVURLAssetPrimarySessionIdentifierKey`. Source: `Documentation/Players.md` §3.7.
open class AVPlayerInterstitialEvent: NSObject {
    public private(set) weak var primaryItem: AVPlayerItem?
    public var time: CMTime
    public var identifier = UUID().uuidString
    public var templateItems: [AVPlayerItem] = []
    /// The JSON of an asset list; `nil` if none was read.
    @available(iOS 16.4, macOS 13.3, tvOS 16.4, watchOS 9.4, visionOS 1.0, *)
    public internal(set) var assetListResponse: [AnyHashable: any Sendable]?
    let playbacks = StandInOutcome<[StandInPlayback.Result]>()

    public init(primaryItem: AVPlayerItem, time: CMTime) {
        self.primaryItem = primaryItem
        self.time = time
    }
}

/// Observes the events of a player's items.
open class AVPlayerInterstitialEventMonitor: NSObject {
    public static let eventsDidChangeNotification = NSNotification.Name(
        "AVPlayerInterstitialEventMonitorEventsDidChangeNotification")
    @available(iOS 16.4, macOS 13.3, tvOS 16.4, watchOS 9.4, visionOS 1.0, *)
    public static let assetListResponseStatusDidChangeNotification = NSNotification.Name(
        "AVPlayerInterstitialEventMonitorAssetListResponseStatusDidChangeNotification")
    @available(iOS 16.4, macOS 13.3, tvOS 16.4, watchOS 9.4, visionOS 1.0, *)
    public static let assetListResponseStatusDidChangeEventKey =
        "AVPlayerInterstitialEventMonitorAssetListResponseStatusDidChangeEventKey"

    public private(set) weak var primaryPlayer: AVPlayer?

    public init(primaryPlayer: AVPlayer) {
        self.primaryPlayer = primaryPlayer
        super.init()
        primaryPlayer.schedule.add(self)
    }

    public var events: [AVPlayerInterstitialEvent] { primaryPlayer?.schedule.events ?? [] }
    /// The player of the events' items. Empty here: events play automatically, see `AVPlayerInterstitialEvent.standIn`.
    public let interstitialPlayer = AVQueuePlayer()
}

/// Sets the events of a player's items.
open class AVPlayerInterstitialEventController: AVPlayerInterstitialEventMonitor {
    public override var events: [AVPlayerInterstitialEvent] {
        get { super.events }
        set { primaryPlayer?.schedule.change(to: newValue) }
    }
}

/// The events of a player.
// Sound: all mutable state is behind the lock; the app owns events and changes them before a player plays.
final class InterstitialSchedule: @unchecked Sendable {
    private struct Watching {
        weak var monitor: AVPlayerInterstitialEventMonitor?
    }

    private struct State {
        var events: [AVPlayerInterstitialEvent] = []
        var monitors: [Watching] = []
    }

    private let lock = NSLock()
    private var state = State()

    var events: [AVPlayerInterstitialEvent] { lock.withLock { state.events } }

    func add(_ monitor: AVPlayerInterstitialEventMonitor) {
        lock.withLock { state.monitors.append(Watching(monitor: monitor)) }
    }

    func change(to events: [AVPlayerInterstitialEvent]) {
        lock.withLock { state.events = events }
        post(AVPlayerInterstitialEventMonitor.eventsDidChangeNotification)
    }

    /// Posts a notification for each monitor.
    func post(_ name: NSNotification.Name, _ information: [String: Any]? = nil) {
        for monitor in lock.withLock({ state.monitors.compactMap(\.monitor) }) {
            NotificationCenter.default.post(name: name, object: monitor, userInfo: information)
        }
    }

    /// Plays the events of an item, with their own items. A failed event ends; the primary item continues.
    func play(during primary: ItemPlayback, on player: PlayerState) async {
        for event in events where event.primaryItem?.playback === primary {
            let items = event.templateItems.map { ItemPlayback(of: $0.playback.asset.interstitial(of: primary.asset)) }
            var results: [StandInPlayback.Result] = []
            do {
                for item in items {
                    item.play(on: player)
                    results.append(try await item.finished.value)
                }
                event.playbacks.settle(.success(results))
            } catch {
                event.playbacks.settle(.failure(error))
            }
        }
    }
}
