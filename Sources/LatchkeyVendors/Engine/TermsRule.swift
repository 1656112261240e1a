import LatchkeyCore

/// Where the terms of a license are outside the CKC, which only the device can read. Each rule gives whole seconds.
///
/// Source: `Documentation/Vendors/README.md` §0, renewal vocabulary, and §23.6, side values.
package struct TermsRule: Sendable, Hashable {
    /// The lease.
    package var lease: TextRule?
    /// The rental.
    package var rental: TextRule?
    /// How long the key may be stored.
    package var storage: TextRule?
    /// How long a stored key plays after its first start.
    package var playback: TextRule?

    /// Makes a rule.
    package init(
        lease: TextRule? = nil, rental: TextRule? = nil, storage: TextRule? = nil, playback: TextRule? = nil
    ) {
        self.lease = lease
        self.rental = rental
        self.storage = storage
        self.playback = playback
    }
}

extension TermsRule {
    /// The terms in a reply or the settings; `nil` if there are none.
    func terms(of reply: JSONReply?, settings: [String: String]) -> LicenseTerms? {
        var context = RuleContext(settings: settings)
        context.reply = reply
        func seconds(_ rule: TextRule?) -> Duration? {
            guard let text = rule.flatMap({ context.text($0) }), let seconds = UInt32(text), seconds > 0 else {
                return nil
            }
            return .seconds(Int64(seconds))
        }
        switch (seconds(lease), seconds(rental), seconds(storage), seconds(playback)) {
        case (_, _, let storage?, let playback?): return LicenseTerms(.dualExpiry(storage: storage, playback: playback))
        case (_, _, let storage?, nil): return LicenseTerms(.persistentFor(storage))
        case (let lease?, let rental?, nil, _): return LicenseTerms(.leaseAndRental(lease: lease, rental: rental))
        case (let lease?, nil, nil, _): return LicenseTerms(.lease(lease))
        case (nil, let rental?, nil, _): return LicenseTerms(.rental(rental))
        case (nil, nil, nil, _): return nil
        }
    }
}
