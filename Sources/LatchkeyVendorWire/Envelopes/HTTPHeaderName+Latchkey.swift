package import LatchkeyHTTP

extension HTTPHeaderName {
    /// The purpose of the key: `stream`, `download` or `renewStored`.
    package static let purpose: HTTPHeaderName = "X-Latchkey-Purpose"
    package static let keyURI: HTTPHeaderName = "X-Latchkey-Key-URI"
    /// The stop codes of sessions that the viewer gives up for this one, separated by commas.
    package static let terminate: HTTPHeaderName = "X-Terminate"
    /// The seconds after which the player renews.
    package static let renewAfter: HTTPHeaderName = "X-Latchkey-Renew-After"
    /// The token of heartbeats.
    package static let heartbeatToken: HTTPHeaderName = "X-Latchkey-Heartbeat-Token"
    /// The seconds between heartbeats.
    package static let heartbeat: HTTPHeaderName = "X-Latchkey-Heartbeat"
}
