/// Why a policy refuses a license. Names are stable.
///
/// Limits of streams are `LicenseRefusal.Kind.sessionLimit`, and tokens have their own kinds.
///
/// Source: `Documentation/LicenseServer.md` §6.4.
public enum PolicyObjection: String, Sendable, Hashable, CaseIterable {
    /// More licenses in a minute than the account may have; 429.
    case rateLimit
    /// A user, device, token or content that is blocked; 403.
    case blocked
    /// An account that an operator blocked; 403.
    case accountBlocked
    /// A device that an operator blocked; 403.
    case deviceBlocked
    /// A license whose time has not begun; 403.
    case notBegun
    /// A license whose time is over; 403.
    case ended
    /// A way of use that is not granted: streaming, a download, the renewal of a stored key; 403.
    case right
    /// A viewer at a place where the content is not licensed; 403.
    case place
    /// A device that lacks an ability; 403.
    case client
    /// A key of a class that is not licensed; 403.
    case track
    /// A picture that would leave the device in a way that is not licensed; 403.
    case output
    /// More devices than the account may use; 403.
    case deviceLimit
    /// More downloads than the account may have; 403.
    case downloadLimit
    /// A request without a session, where sessions are counted; 403.
    case sessionMissing
    /// A session that another one stopped; 403.
    case sessionStopped
    /// An engine outside that the decision needs is out of service; 503.
    case storeUnavailable
    /// A server that stops; 503.
    case stopping

    /// The HTTP status to answer with.
    public var status: Int {
        switch self {
        case .rateLimit: 429
        case .storeUnavailable, .stopping: 503
        default: 403
        }
    }

    var remedy: String {
        switch self {
        case .rateLimit: "Wait and try again."
        case .blocked, .accountBlocked, .deviceBlocked: "Ask the service's operator."
        case .notBegun: "Try again when the license's time has begun."
        case .ended: "Get a new entitlement for the content."
        case .right: "Use the content as the account's rights allow."
        case .place: "Tell the viewer that the content is not available here."
        case .client: "Update the device, or play on another one."
        case .track: "Play a rendition that the account includes."
        case .output: "Play on the device itself, or connect a display with the content protection that is needed."
        case .deviceLimit: "Remove a device from the account."
        case .downloadLimit: "Remove a download."
        case .sessionMissing: "Send the playback session, in the SPC or as the token's sid."
        case .sessionStopped: "Start playback again, which stops another session."
        case .storeUnavailable, .stopping: "Try again shortly."
        }
    }

    /// The section of a policy that refuses so.
    var section: Policy.Section {
        switch self {
        case .rateLimit: .limits
        case .blocked, .accountBlocked, .deviceBlocked: .blocked
        case .notBegun, .ended: .validity
        case .right: .stream
        case .place: .place
        case .client: .client
        case .track: .tracks
        case .output: .output
        case .deviceLimit: .devices
        case .downloadLimit: .download
        case .sessionMissing, .sessionStopped: .concurrency
        case .storeUnavailable, .stopping: .outage
        }
    }
}
