package import Foundation
package import LatchkeyForms

/// The grant of a token, or of the customer's own system. It may narrow a policy, and widens only members that the policy lets it.
///
/// Source: `Documentation/LicenseServer.md` §5 and §6.2.
package struct Grant: Sendable, Hashable {
    /// The account, whose slots, devices and downloads are counted; the token's subject by default.
    package var account = ""
    /// The profile within the account.
    package var profile: String?
    /// The playback session, the token's `sid`.
    package var session: String?
    /// The token's `jti`.
    package var tokenID: String?
    /// When the token was made.
    package var issued: Date?
    /// When the token ends.
    package var expires: Date?
    /// The only address it is for.
    package var address: AddressRange?
    /// The device, as the customer names it. Counts before the SPC's.
    package var device: String?
    /// The device's name for people.
    package var label: String?
    /// The only contents it is for; `nil` for all of the tenant's.
    package var contents: Set<String>?
    /// The only keys it is for, as UUIDs; `nil` for all of the contents'.
    package var keys: Set<String>?
    /// The rules that it narrows.
    package var policy = Policy()

    package init() {}
}
