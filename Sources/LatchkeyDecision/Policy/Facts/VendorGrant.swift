package import Foundation
package import LatchkeyCore

/// The grant of a vendor's token, in terms that all vendors share.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct VendorGrant: Sendable {
    /// How often a token is good.
    package enum Use: Sendable {
        /// As often as policy says.
        case any
        /// For one session.
        case session
        /// For one license.
        case license
    }

    /// The viewer; `nil` for an anonymous one: the session, or else the token, then counts as an account.
    package var account: String?
    /// The viewer's session.
    package var session: String?
    /// A name that is unique to the token.
    package var tokenID: String
    package var issued: Date?
    package var expires: Date?
    /// The terms; `nil` leaves them to the tenant's policy.
    package var terms: LicenseTerms?
    /// No license before it.
    package var begin: Date?
    /// No license from it on.
    package var end: Date?
    /// The only countries, two capital letters each; `nil` for all.
    package var countries: Set<String>?
    /// Whether addresses that hide a place are refused.
    package var refusesAnonymizers = false
    /// The only classes of keys; `nil` for all.
    package var tracks: Set<TrackClass>?
    /// Where the picture of the requested key may go.
    package var output = VendorOutput()
    package var use = Use.any

    package init(tokenID: String) { self.tokenID = tokenID }

    /// The same as the decision needs it. It narrows the tenant's policy.
    package var grant: Grant {
        var grant = Grant()
        grant.account = account ?? session ?? tokenID
        (grant.session, grant.tokenID, grant.issued, grant.expires) = (session, tokenID, issued, expires)
        switch terms?.validity {
        case .persistentFor(let storage)?: grant.policy.download.storage = storage
        case .dualExpiry(let storage, let playback)?:
            (grant.policy.download.storage, grant.policy.download.playback) = (storage, playback)
        case .persistent?, nil: break
        case let validity?: grant.policy.validity.type = validity
        }
        (grant.policy.validity.begin, grant.policy.validity.end) = (begin, end)
        grant.policy.place.allow = countries
        if refusesAnonymizers { grant.policy.place.anonymizers = .refuse }
        grant.policy.tracks.allow = tracks
        grant.policy.output = output.policy
        switch use {
        case .any: break
        case .session: grant.policy.token.singleUse = true
        case .license: (grant.policy.token.singleUse, grant.policy.token.reuse) = (true, .zero)
        }
        return grant
    }
}
