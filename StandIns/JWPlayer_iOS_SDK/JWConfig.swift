public import Foundation

/// The content of a player. Implements only the parts of the real class that playback needs.
public final class JWConfig: NSObject {
    public var file: String?
    public var autostart = false

    public override init() { super.init() }

    public init(contentURL: String) {
        file = contentURL
        super.init()
    }
}

/// Receives the events of a player. Every method is optional.
public protocol JWPlayerDelegate: NSObjectProtocol {
    func onError(_ event: any JWEvent & JWErrorEvent)
}

/// An event of a player.
public protocol JWEvent {}

/// An error event of a player.
public protocol JWErrorEvent {
    var error: any Error { get }
}
