import LatchkeyDecision

/// One event of a license, as the record keeps it: who, what, where, on which terms, by which policy, and why.
///
/// Holds no token, no key and no SPC. A member that does not apply is empty, or `nil`.
///
/// Source: `Documentation/Server/Record.md` §1.
package struct LicenseRecordRow: Sendable, Hashable {
    /// The event of a row. The raw values are stable.
    package enum Event: String, Sendable, Hashable, CaseIterable {
        /// A license that begins playback.
        case license
        /// A license that continues playback, or for a key that the device has stored.
        case renewal
        /// A request that got no license.
        case refusal
        /// A session that is over; `cause` says how.
        case end
        /// The number of a tenant's concurrent sessions, in `count`.
        case viewers
    }

    /// How a session ended. The raw values are stable.
    package enum Cause: String, Sendable, Hashable, CaseIterable {
        /// The player released it.
        case released
        /// An operator or another service stopped it.
        case stopped
        /// The viewer gave it up for another session.
        case replaced
        /// Its slot expired, which its next heartbeat noticed.
        case ended
    }

    /// The first millisecond of the year 10000, whose days have no name: no row has such a time.
    package static let endOfTime: Int64 = 253_402_300_800_000

    /// The row's place, set by the spool.
    package var position = RecordPosition()
    /// Milliseconds since 1970, by the node's clock.
    package var time: Int64 = 0
    package var event = Event.license
    package var cause: Cause?
    /// How many events the row represents: 1; the sessions of `viewers`; or refusals of one kind within a second, if there were too many
    /// to record one by one.
    package var count = 1
    package var tenant = ""
    /// The viewer's name in the token, or its pseudonym.
    package var account = ""
    /// The digest of the device that the policy counts, 32 hexadecimal digits.
    package var device = ""
    /// The client's address, truncated as in the log.
    package var address = ""
    /// Two capital letters.
    package var country = ""
    /// The content's name.
    package var content = ""
    /// The key's identifier.
    package var kid = ""
    /// The endpoint's name, such as `fairplay` or `drmtoday`.
    package var api = ""
    /// The kind of the license: `lease`, `rental`, `persistent` and so on; empty without a license.
    package var kind = ""
    /// How long the license is valid, in seconds; `nil` without a license, or if it does not expire.
    package var seconds: Int?
    /// The name of the policy that decided.
    package var policy = ""
    /// The SHA-256 of that policy, 64 hexadecimal digits.
    package var policyDigest = ""
    /// The session of the slot.
    package var session = ""
    /// The request's identifier, as in the log and the refusal.
    package var requestID = ""
    /// The refusal's stable code, such as `sessionLimit`.
    package var code = ""
    /// The refusal's reason, for operators; at most 300 characters.
    package var reason = ""
    /// The time from the request's arrival to its row.
    package var microseconds: Int?
    /// The decision with everything that it depended on, a JSON object in canonical form; `nil` if the settings keep none.
    package var decision: String?

    package init(_ event: Event = .license, time: Int64 = 0) {
        self.event = event
        self.time = time
    }

    /// The DRM system of each API that is not FairPlay's; empty for requests outside an API of licenses. A slot's row does not name the
    /// system of its request.
    package static let drmOfAPI: KeyValuePairs = [
        "clearkey": DRM.clearKey.label, "slot": DRM.other.label, "heartbeat": "", "session": "", "none": "", "": "",
    ]
    /// The DRM system of all other APIs.
    package static let usualDRM = DRM.fairPlay.label

    /// The DRM system, derived from the API.
    package var drm: String { Self.drmOfAPI.first { $0.key == api }?.value ?? Self.usualDRM }

    private typealias DRM = LicenseRequestFacts.DRM
}

/// A row's place among all rows of all nodes.
package struct RecordPosition: Sendable, Hashable {
    /// The node that wrote it.
    package var node: String
    /// The spool of that node: 16 hexadecimal digits, chosen when its folder was made.
    package var spool: String
    /// 1 for the spool's first row, then one more each.
    package var sequence: UInt64

    package init(node: String = "", spool: String = "", sequence: UInt64 = 0) {
        (self.node, self.spool, self.sequence) = (node, spool, sequence)
    }
}
