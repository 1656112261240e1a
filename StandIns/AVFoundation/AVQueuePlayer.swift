import LatchkeyCore
import StandInEngine

/// Plays items one after the other.
///
/// An item may load as soon as it is enqueued, not only when its turn comes, so its asset must be protected before. A failed
/// item stops the queue. Source: `Documentation/Players.md` §3.7.
open class AVQueuePlayer: AVPlayer {
    public override nonisolated init() {
        super.init()
        state.becomeQueue()
    }

    public nonisolated init(items: [AVPlayerItem]) {
        super.init()
        state.becomeQueue()
        for item in items { insert(item, after: nil) }
    }

    public override nonisolated init(playerItem item: AVPlayerItem?) {
        super.init(playerItem: item)
        state.becomeQueue()
    }

    /// The current item and its successors.
    public nonisolated func items() -> [AVPlayerItem] { (state.item.map { [$0] } ?? []) + state.following }

    /// An item has one place in a queue.
    public nonisolated func canInsert(_ item: AVPlayerItem, after afterItem: AVPlayerItem?) -> Bool {
        !items().contains { $0 === item } && (afterItem.map { after in items().contains { $0 === after } } ?? true)
    }

    public nonisolated func insert(_ item: AVPlayerItem, after afterItem: AVPlayerItem?) {
        guard canInsert(item, after: afterItem) else {
            return state.log(.itemEnqueuedTwice, item)
        }
        state.enqueue(item, after: afterItem)
    }

    public nonisolated func remove(_ item: AVPlayerItem) {
        if state.item === item { advanceToNextItem() } else { state.drop { $0 === item } }
    }

    public nonisolated func removeAllItems() {
        state.drop { _ in true }
        state.take(nil)
    }

    public nonisolated func advanceToNextItem() { state.advance() }
}

/// Plays replicas of an item repeatedly. All have the item's asset.
open class AVPlayerLooper: NSObject, @unchecked Sendable {
    public enum Status: Int, Sendable {
        case unknown = 0
        case ready = 1
        case failed = 2
        case cancelled = 3
    }

    // Sound: all mutable state is in `looping`, behind a lock.
    private struct Looping {
        var status = Status.ready
        var count = 0
        var items: [AVPlayerItem] = []
    }

    private let asset: AVURLAsset
    private let player: PlayerState
    private let looping = Locked(Looping())

    public init(player: AVQueuePlayer, templateItem itemToLoop: AVPlayerItem) {
        asset = itemToLoop.playback.asset
        self.player = player.state
        super.init()
        for _ in 0..<3 { addReplica() }
        player.state.whenEnded { [weak self] in self?.loop() }
    }

    public var status: AVPlayerLooper.Status { looping.withLock { $0.status } }
    public var error: (any Error)? { nil }
    public var loopCount: Int { looping.withLock { $0.count } }
    public var loopingPlayerItems: [AVPlayerItem] { looping.withLock { $0.items } }

    /// Plays the current replica to its end, and no further one.
    public func disableLooping() {
        let items = looping.withLock { looping in
            looping.status = .cancelled
            return looping.items
        }
        player.drop { item in items.contains { $0 === item } }
    }

    private func loop() {
        let goesOn = looping.withLock { looping in
            guard looping.status == .ready, !looping.items.isEmpty else { return false }
            looping.count += 1
            looping.items.removeFirst()
            return true
        }
        if goesOn { addReplica() }
    }

    private func addReplica() {
        let replica = AVPlayerItem(asset: asset)
        looping.withLock { $0.items.append(replica) }
        player.enqueue(replica, after: nil)
    }
}
