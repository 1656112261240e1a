import LatchkeyCore

/// The terms of a license as JSON: a kind, and whole seconds under the names of the terms that it has.
struct TermsReport: Encodable, Sendable {
    /// `unlimited`, `lease`, `rental`, `leaseAndRental`, `persistent`, `persistentFor` or `dualExpiry`.
    let kind: String
    var lease: Int64?
    var rental: Int64?
    var storage: Int64?
    var playback: Int64?
    /// Whether the key may be stored.
    let persistable: Bool
    /// `notRequired`, `type0` or `type1`; absent where the license does not say.
    let hdcp: HDCPRequirement?

    init(_ terms: LicenseTerms) {
        hdcp = terms.hdcp
        persistable = terms.isPersistable
        lease = terms.lease?.components.seconds
        switch terms.validity {
        case .unlimited: kind = "unlimited"
        case .lease: kind = "lease"
        case .rental(let time): (kind, rental) = ("rental", time.components.seconds)
        case .leaseAndRental(_, let time): (kind, rental) = ("leaseAndRental", time.components.seconds)
        case .persistent: kind = "persistent"
        case .persistentFor(let time): (kind, storage) = ("persistentFor", time.components.seconds)
        case .dualExpiry(let time, let window):
            (kind, storage, playback) = ("dualExpiry", time.components.seconds, window.components.seconds)
        }
    }

    /// For people: `lease 60 s, HDCP type 1`.
    var text: String {
        let times = [("lease", lease), ("rental", rental), ("storage", storage), ("playback", playback)]
        let parts = times.compactMap { name, seconds in seconds.map { "\(name) \($0) s" } }
        let limits = parts.isEmpty ? [persistable ? "stored without limit" : "no limit"] : parts
        return (limits + [hdcpText].compactMap { $0 }).joined(separator: ", ")
    }

    private var hdcpText: String? {
        switch hdcp {
        case .notRequired: "no HDCP required"
        case .type0: "HDCP type 0"
        case .type1: "HDCP type 1"
        case nil: nil
        }
    }
}
