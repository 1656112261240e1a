package import LatchkeyCore

/// License terms in a report: a kind, and the stated durations in whole seconds.
package struct TermsSummary: Sendable, Hashable, Encodable {
    /// `unlimited`, `lease`, `rental`, `leaseAndRental`, `persistent`, `persistentFor` or `dualExpiry`.
    package let kind: String
    /// Seconds within which the key must be renewed.
    package let lease: Int64?
    /// Seconds within which playback must start.
    package let rental: Int64?
    /// Seconds for which the key may be stored.
    package let storage: Int64?
    /// Seconds for which a stored key plays after its first start.
    package let playback: Int64?
    /// Whether the key may be stored.
    package let persistable: Bool
    /// The display requirement; `nil` if absent.
    package let hdcp: HDCPRequirement?

    /// - Parameter terms: the terms of a CKC.
    package init(_ terms: LicenseTerms) {
        let seconds = { (duration: Duration?) in duration.map(\.components.seconds) }
        let (kind, lease, rental, storage, playback) = Self.parts(terms.validity)
        self.kind = kind
        self.lease = seconds(lease)
        self.rental = seconds(rental)
        self.storage = seconds(storage)
        self.playback = seconds(playback)
        persistable = terms.isPersistable
        hdcp = terms.hdcp
    }

    private static func parts(
        _ validity: LicenseTerms.Validity
    ) -> (String, lease: Duration?, rental: Duration?, storage: Duration?, playback: Duration?) {
        switch validity {
        case .unlimited: ("unlimited", nil, nil, nil, nil)
        case .lease(let lease): ("lease", lease, nil, nil, nil)
        case .rental(let rental): ("rental", nil, rental, nil, nil)
        case .leaseAndRental(let lease, let rental): ("leaseAndRental", lease, rental, nil, nil)
        case .persistent: ("persistent", nil, nil, nil, nil)
        case .persistentFor(let storage): ("persistentFor", nil, nil, storage, nil)
        case .dualExpiry(let storage, let playback): ("dualExpiry", nil, nil, storage, playback)
        }
    }
}

extension TermsSummary: CustomStringConvertible {
    /// The terms in one readable line: `lease 60 s, HDCP type 1`.
    package var description: String {
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
