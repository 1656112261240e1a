import Foundation
import LatchkeyCore

/// Secure sessions with a vendor: how one is opened, kept alive and ended.
///
/// Source: `vendors.md` §9.2 and §23.11, `ssm`.
public struct SessionRule: Sendable, Hashable, Codable {
    /// The setting without which there are no sessions; there always are where none is named.
    public var setting: String?
    /// Opens the session.
    public var setup: RequestRule
    /// Keeps it alive.
    public var heartbeat: RequestRule
    /// Ends it.
    public var teardown: RequestRule
    /// The values to keep, by the name that `TextRule.session` reads and the JSON path where they stand. The setup's reply has
    /// to have all of them; those that a later reply has replace the earlier.
    public var values: [String: String]
    /// The JSON path, in the setup's reply, of the number of seconds between two heartbeats.
    public var period: String
    /// The side value of a license whose presence says that renewals of the license keep the session alive, not heartbeats.
    public var enforcedBy: String?
    /// How the service says no; as the license service unless given.
    public var errors: ErrorRules?

    /// Makes a rule.
    public init(
        setting: String? = nil, setup: RequestRule, heartbeat: RequestRule, teardown: RequestRule,
        values: [String: String], period: String, enforcedBy: String? = nil, errors: ErrorRules? = nil
    ) {
        self.setting = setting
        self.setup = setup
        self.heartbeat = heartbeat
        self.teardown = teardown
        self.values = values
        self.period = period
        self.enforcedBy = enforcedBy
        self.errors = errors
    }
}

extension SessionRule {
    /// The longest period that is taken for one, in seconds: a year.
    private static let longestPeriod = 31_536_000.0

    /// The requests, for what they have in common.
    var requests: [RequestRule] { [setup, heartbeat, teardown] }

    func request(_ step: SessionStep) -> RequestRule {
        switch step {
        case .setup: setup
        case .heartbeat: heartbeat
        case .teardown: teardown
        }
    }

    /// What a reply says.
    /// - Throws: what the service refused with; `sessionMalformed` where a setup's reply lacks something.
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
        // A shorter one would do nothing but load the service.
        return SessionReply(values: found, period: .milliseconds(Int64(max(1, seconds) * 1_000)))
    }
}
