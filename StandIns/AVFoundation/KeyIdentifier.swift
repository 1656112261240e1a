import LatchkeyCore
import StandInEngine

/// A key's identifier in its possible forms.
enum KeyIdentifier {
    /// The identifier as text; empty if it has none.
    static func text(_ identifier: Any?) -> String {
        switch identifier {
        case let text as String: text
        case let url as URL: url.absoluteString
        case let url as NSURL: url.absoluteString
        case let some?: String(describing: some)
        case nil: ""
        }
    }

    /// The identifier of a stream's key, in the form that the player uses.
    static func form(_ uri: KeyURI, _ form: IdentifierForm) -> (any Sendable)? {
        switch form {
        case .string: uri.raw
        case .url: URL(string: uri.raw) ?? uri.raw
        case .nsString: sendable(NSString(string: uri.raw))
        case .nsURL: sendable(NSURL(string: uri.raw) ?? NSString(string: uri.raw))
        case .none: nil
        }
    }

    /// Objective-C values have no `Sendable` conformance, but Apple's headers declare these as `Sendable`.
    static func sendable(_ value: Any) -> any Sendable {
        switch value {
        case let text as String where type(of: value) == String.self: text
        case let url as URL where type(of: value) == URL.self: url
        case let data as Data: data
        // Sound: a marker protocol has no witness table, and NSString, NSURL and NSNumber never change. `as Any` prevents the
        // value from being opened.
        default: unsafeBitCast(value as Any, to: (any Sendable).self)
        }
    }
}
