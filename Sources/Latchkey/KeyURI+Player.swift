import Foundation
public import LatchkeyCore

extension KeyURI {
    /// The key URI in a player's identifier, which is a string or a URL, or `nil`.
    @_spi(Adapters) public init?(playerIdentifier identifier: Any?) {
        switch identifier {
        case let text as String: self.init(text)
        case let url as URL: self.init(url.absoluteString)
        case let url as NSURL: self.init((url as URL).absoluteString)
        default: return nil
        }
        if raw.isEmpty { return nil }
    }
}
