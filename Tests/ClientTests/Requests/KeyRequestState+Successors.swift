@testable import Latchkey

extension KeyRequestState {
    /// Whether a request may go from this state to another.
    func canBecome(_ next: Self) -> Bool {
        switch (self, next) {
        case (.pending, .stopping), (.pending, .held): true
        case (.held, .held), (.held, .renewalDue), (.held, .renewing): true
        case (.renewalDue, .held), (.renewalDue, .renewing): true
        case (.renewing, .held), (.renewing, .renewing): true
        case (.ended, _): false
        case (_, .ended): true
        default: false
        }
    }
}
