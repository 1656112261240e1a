import Foundation
import LatchkeyCore

/// Secure sessions with a vendor: the requests that open a session, keep it alive and end it.
///
/// Source: `Documentation/Vendors/NAGRA.md` §2 and `Documentation/Vendors/README.md` §23.11, `ssm`; without a setup,
/// `Documentation/Vendors/Latchkey.md`.
package struct SessionRule: Sendable, Hashable {
    /// The setting that turns sessions on; `nil` if there always is a session.
    package var setting: String?
    /// Opens the session; `nil` if a license does.
    package var setup: RequestRule?
    /// Keeps it alive.
    package var heartbeat: RequestRule
    /// Ends it.
    package var teardown: RequestRule
    /// The values to keep: JSON paths by the names that `TextRule.session` reads. The setup's reply has to contain all of them; values in
    /// later replies replace them. Without a setup, a license with side values of all these names opens the session.
    package var values: [String: String]
    /// The JSON path, in the setup's reply, of the number of seconds between two heartbeats. Without a setup, the name of the license's
    /// side value; there are no heartbeats if it is missing.
    package var period: String
    /// A side value of the license. If it is present, renewals of the license keep the session alive, and not heartbeats.
    package var enforcedBy: String?
    /// How to read a refusal. Defaults to the license service's rules.
    package var errors: ErrorRules?
}

extension SessionRule {
    /// The longest valid period, in seconds: a year.
    private static let longestPeriod = 31_536_000.0

    func request(_ step: SessionStep) -> RequestRule? {
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
        guard let json else {
            throw malformed("The reply should be JSON, and is \(Recognition(reply.body).described(reply.body)).")
        }
        if let missing = values.sorted(by: { $0.key < $1.key }).first(where: { found[$0.key] == nil }) {
            throw malformed("The JSON reply has no \"\(missing.value)\".")
        }
        let seconds = json.number(at: period)
        guard let period = seconds.flatMap(Self.period) else {
            let flaw = seconds.flatMap { $0 > 0 ? nil : ValueOrigin.reply.flaw(ofHeartbeat: $0)?.reason }
            throw malformed(flaw ?? "The JSON reply's \"\(period)\" is not a number of seconds above 0.")
        }
        return SessionReply(values: found, period: period)
    }

    /// The session of a license; `nil` if sessions have a setup, or the license has not all values.
    func opened(by license: License) -> SessionReply? {
        let found = license.sideValues.filter { values[$0.key] != nil }
        guard setup == nil, !values.isEmpty, found.count == values.count else { return nil }
        let seconds = license.sideValues[period].flatMap { Double($0.revealedText) }
        return SessionReply(values: found, period: seconds.flatMap(Self.period))
    }

    private static func period(_ seconds: Double) -> Duration? {
        guard seconds > 0, seconds <= longestPeriod else { return nil }
        // A shorter period would only put load on the service.
        return .milliseconds(Int64(max(1, seconds) * 1_000))
    }
}
