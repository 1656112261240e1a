import Foundation
import LatchkeyCore

/// Secure sessions with a vendor: the requests that open a session, keep it alive and end it.
///
/// Source: `Documentation/Vendors/NAGRA.md` §2 and `Documentation/Vendors/README.md` §23.11, `ssm`.
package struct SessionRule: Sendable, Hashable, Codable {
    /// The setting that turns sessions on; `nil` if there always is a session.
    package var setting: String?
    /// Opens the session.
    package var setup: RequestRule
    /// Keeps it alive.
    package var heartbeat: RequestRule
    /// Ends it.
    package var teardown: RequestRule
    /// The values to keep: JSON paths by the names that `TextRule.session` reads. The setup's reply has to contain all of them; values in
    /// later replies replace them.
    package var values: [String: String]
    /// The JSON path, in the setup's reply, of the number of seconds between two heartbeats.
    package var period: String
    /// A side value of the license. If it is present, renewals of the license keep the session alive, and not heartbeats.
    package var enforcedBy: String?
    /// How to read a refusal. Defaults to the license service's rules.
    package var errors: ErrorRules?
}

extension SessionRule {
    /// The longest valid period, in seconds: a year.
    private static let longestPeriod = 31_536_000.0

    func request(_ step: SessionStep) -> RequestRule {
        switch step {
        case .setup: setup
        case .heartbeat: heartbeat
        case .teardown: teardown
        }
    }

    /// Reads a reply.
    /// - Throws: `IntegrationError`: the refusal, or `sessionMalformed` if a setup's reply is not complete.
    func reply(_ reply: HTTPReply, to step: SessionStep, _ errors: ErrorRules) throws(IntegrationError) -> SessionReply
    {
        let errors = self.errors ?? errors
        try errors.check(reply)
        let json = JSONReply(reply.body)
        let found = values.compactMapValues { path in
            json?.text(at: path).flatMap { $0.isEmpty ? nil : Secret($0) }
        }
        guard step == .setup else { return SessionReply(values: step == .heartbeat ? found : [:]) }
        func malformed(_ reason: String) -> IntegrationError {
            IntegrationError(.sessionMalformed, reason, service: errors.summary(of: reply))
        }
        guard let json else { throw malformed("The reply should be JSON, and is \(reply.body.apparentFormat).") }
        if let missing = values.sorted(by: { $0.key < $1.key }).first(where: { found[$0.key] == nil }) {
            throw malformed("The JSON reply has no \"\(missing.value)\".")
        }
        guard let seconds = json.number(at: period), seconds > 0, seconds <= Self.longestPeriod else {
            throw malformed("The JSON reply's \"\(period)\" is no number of seconds above 0.")
        }
        // A shorter period would only put load on the service.
        return SessionReply(values: found, period: .milliseconds(Int64(max(1, seconds) * 1_000)))
    }
}
