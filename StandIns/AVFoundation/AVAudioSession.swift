public import Foundation
import LatchkeyCore
public import StandInEngine

/// The part of `AVFAudio` that reports lost media services.
open class AVAudioSession: NSObject {
    public static let mediaServicesWereResetNotification = NSNotification.Name(
        "AVAudioSessionMediaServicesWereResetNotification")
    public static let mediaServicesWereLostNotification = NSNotification.Name(
        "AVAudioSessionMediaServicesWereLostNotification")

    /// The session of the app; here one per stage, so that concurrent tests get only their own notifications.
    public class func sharedInstance() -> AVAudioSession { StandInStage.only { Only(AVAudioSession()) }.object }
}

extension StandInStage {
    /// Restarts the media services, for all players and key sessions of the stage. Not in Apple's SDK.
    ///
    /// Source: `Documentation/Players.md` §3.7.
    public func resetMediaServices() {
        let error = AVError.because(.mediaServicesWereReset, "The media services were reset.")
        let audio = only { Only(AVAudioSession()) }.object
        NotificationCenter.default.post(name: AVAudioSession.mediaServicesWereLostNotification, object: audio)
        for session in keySessions { session.resetMediaServices() }
        for player in players { player.fail(error) }
        NotificationCenter.default.post(name: AVAudioSession.mediaServicesWereResetNotification, object: audio)
    }

    /// The players that have had an item on the stage.
    var players: [PlayerState] { only { LivingObjects<PlayerState>() }.all }

    func note(_ player: PlayerState) { only { LivingObjects<PlayerState>() }.add(player) }
}

/// Objects, without keeping them alive.
final class LivingObjects<Object: AnyObject & Sendable>: Sendable {
    private struct Living {
        weak var object: Object?
    }

    private let objects = Locked<[Living]>([])

    var all: [Object] { objects.withLock { $0.compactMap(\.object) } }

    func add(_ object: Object) {
        objects.withLock { objects in
            objects.removeAll { $0.object == nil || $0.object === object }
            objects.append(Living(object: object))
        }
    }
}
