import LatchkeyCore
import LatchkeyForms

/// The origin of a value. An error about the value names it, because the value must be corrected there.
@_spi(Integrations) @_spi(Adapters) public enum ValueOrigin: Sendable, Hashable {
    /// A key URI of the stream's playlists.
    case playlist
    /// A setting of the vendor, by its name.
    case setting(String)
    /// A credential of the app, by its name.
    case credential(String)
    /// A reply of the service.
    case reply
    /// A redirect by the service.
    case redirect
    /// A callback of the app, such as `license callback`.
    case callback(String)
    /// An integration in code, by its identifier.
    case integration(String)
}

extension ValueOrigin: CustomStringConvertible {
    /// The subject of a sentence.
    public var description: String {
        switch self {
        case .playlist: "The playlist's key URI"
        case .setting(let name): "The setting \"\(name)\""
        case .credential(let name): "The credential \"\(name)\""
        case .reply: "The service's reply"
        case .redirect: "The service's redirect"
        case .callback(let name): "The \(name)"
        case .integration(let identifier): "The integration \(identifier)"
        }
    }

    /// The sentence, without its period, that this is the origin of a value.
    package func gave(_ value: String) -> String {
        switch self {
        case .setting, .credential, .reply: "\(self) holds \(value)"
        case .playlist, .redirect, .callback, .integration: "\(self) gave \(value)"
        }
    }

    /// The problem with the time between two heartbeats, or `nil`.
    /// - Parameter seconds: the stated number.
    public func flaw(ofHeartbeat seconds: Double) -> IntegrationError? {
        let fault: String
        switch seconds {
        case ..<0: fault = "a negative period keeps no session alive"
        case 0: fault = "with 0, no heartbeat is ever sent"
        case Self.longestHeartbeat...: fault = "milliseconds were probably meant"
        default: return nil
        }
        return IntegrationError(
            .sessionMalformed, "\(gave("the heartbeat \(JSONValue.number(seconds).canonicalText)")): \(fault).",
            remedy: "Give the seconds between two heartbeats, above 0.")
    }

    /// In seconds; from it on a number is taken for milliseconds.
    private static let longestHeartbeat = 10_000.0
}
