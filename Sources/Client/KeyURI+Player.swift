import Foundation
public import LatchkeyCore

extension KeyURI {
    /// The key that a player names by a text or an URL; nil where it names none.
    public init?(playerIdentifier identifier: Any?) {
        switch identifier {
        case let text as String: self.init(text)
        case let url as URL: self.init(url.absoluteString)
        case let url as NSURL: self.init((url as URL).absoluteString)
        default: return nil
        }
        if raw.isEmpty { return nil }
    }
}
