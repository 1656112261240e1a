import Latchkey

extension SessionState {
    /// The states that may follow. Source: `Documentation/Vendors/NAGRA.md` §2, state machine.
    var successors: Set<SessionState> {
        switch self {
        case .off: [.awaitingContentToken]
        case .awaitingContentToken: [.setupRequested, .error]
        // An attempt that is repeated asks for new credentials.
        case .setupRequested: [.on, .awaitingContentToken, .error]
        case .on: [.renewalRequested, .teardownRequested, .error]
        case .renewalRequested: [.on, .teardownRequested, .error]
        case .teardownRequested: [.off]
        case .error: [.awaitingContentToken, .teardownRequested, .off]
        }
    }
}
