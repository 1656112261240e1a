extension KeyEvent.Kind {
    /// A stable name, the one in JSON: `answered`, `retrying`. Never renamed.
    package var name: String {
        switch self {
        case .requested: "requested"
        case .stageEnded: "stageEnded"
        case .certificateFromCache: "certificateFromCache"
        case .prepared: "prepared"
        case .preloaded: "preloaded"
        case .tokenAdvice: "tokenAdvice"
        case .certificateUnrecognized: "certificateUnrecognized"
        case .replyWarning: "replyWarning"
        case .exchanged: "exchanged"
        case .unanswered: "unanswered"
        case .redirected: "redirected"
        case .retrying: "retrying"
        case .renewalPlanned: "renewalPlanned"
        case .renewalDue: "renewalDue"
        case .renewalFailed: "renewalFailed"
        case .ended: "ended"
        case .released: "released"
        case .evicted: "evicted"
        case .answeredFromStore: "answeredFromStore"
        case .keyStored: "keyStored"
        case .storedKeyDropped: "storedKeyDropped"
        case .storedKeyExpired: "storedKeyExpired"
        case .storeFailed: "storeFailed"
        case .session: "session"
        case .sessionFailed: "sessionFailed"
        case .answered: "answered"
        case .heldBySystem: "heldBySystem"
        case .failed: "failed"
        }
    }
}
