public import Foundation

/// What a player plays. Stands in for as much of the real class as playing takes.
public final class JWConfig: NSObject {
    public var file: String?
    public var autostart = false

    public override init() { super.init() }

    public init(contentURL: String) {
        file = contentURL
        super.init()
    }
}

/// Is told what a player does. Every method is optional.
public protocol JWPlayerDelegate: NSObjectProtocol {
    func onError(_ event: any JWEvent & JWErrorEvent)
}

/// Something that a player tells of.
public protocol JWEvent {}

/// A failure that a player tells of.
public protocol JWErrorEvent {
    var error: any Error { get }
}
