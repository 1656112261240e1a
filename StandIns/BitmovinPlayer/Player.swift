public import Foundation
import LatchkeyCore
import StandInPlayers

/// The configuration of a player. Empty here.
public final class PlayerConfig: NSObject {
    public override init() { super.init() }
}

/// Plays sources.
public protocol Player: AnyObject {
    func load(source: any Source)
    func load(sourceConfig: SourceConfig)
    func unload()
    func play()
    func destroy()
    var source: (any Source)? { get }
}

/// Makes players.
public enum PlayerFactory {
    public static func create(playerConfig: PlayerConfig = PlayerConfig()) -> any Player { SimulatedPlayer() }
}

/// The implementation of `Player`.
final class SimulatedPlayer: Player, Sendable {
    private let current = Locked<SimulatedSource?>(nil)

    var source: (any Source)? { current.withLock { $0 } }

    func load(source: any Source) { take(source as? SimulatedSource) }
    func load(sourceConfig: SourceConfig) { load(source: SourceFactory.create(from: sourceConfig)) }
    func unload() { take(nil) }
    func destroy() { take(nil) }
    func play() { current.withLock { $0 }?.playback?.play() }

    private func take(_ source: SimulatedSource?) {
        let previous = current.withLock { current in
            defer { current = source }
            return current
        }
        if previous !== source { previous?.playback?.end() }
        source?.playback?.load()
    }
}
