package import Foundation
package import LatchkeyCore
package import LatchkeyDecision

/// A vendor's license request without its envelope, with its credentials checked.
package struct LicenseQuestion: Sendable {
    /// The SPC.
    package var spc: Data
    /// Which key the license is for.
    package var key: RequestedKey
    /// What the credentials grant. Without terms the policy decides.
    package var grant: VendorGrant
    /// Whether the app stores the license.
    package var isStored: Bool
    /// Why the credentials do not cover a key, given the SPC's content identifier; `nil` if they do.
    ///
    /// For vendors whose requests name the key in the SPC alone: the server knows the key only after it has opened the SPC.
    package var objection: Objection
    /// Narrows the grant to what the credentials say of a key, given the SPC's content identifier.
    package var narrow: Narrow

    package typealias Objection = @Sendable (VendorKey, ContentIdentifier) -> LicenseRefusal?
    package typealias Narrow =
        @Sendable (inout VendorGrant, KeyFacts, ContentIdentifier) throws(LicenseRefusal) -> Void

    /// - Parameter terms: the grant's, for credentials that grant nothing else.
    package init(
        spc: Data, key: RequestedKey, terms: LicenseTerms? = nil, grant: VendorGrant? = nil, isStored: Bool = false,
        objection: @escaping Objection = { _, _ in nil }, narrow: @escaping Narrow = { _, _, _ in }
    ) {
        self.spc = spc
        self.key = key
        self.grant = grant ?? VendorGrant(tokenID: "")
        if let terms { self.grant.terms = terms }
        self.isStored = isStored
        self.objection = objection
        self.narrow = narrow
    }
}

/// A key that credentials are compared with.
package struct VendorKey: Sendable {
    /// Key and IV.
    package let content: ContentKey
    package let facts: KeyFacts
    /// Whether a text names the key or its content.
    package let isNamed: @Sendable (String) -> Bool

    package init(_ content: ContentKey, _ facts: KeyFacts, isNamed: @escaping @Sendable (String) -> Bool) {
        (self.content, self.facts, self.isNamed) = (content, facts, isNamed)
    }
}

/// Which key a license is for: the request names it, the SPC's content identifier does, or both.
///
/// If both name a key, they have to name the same one.
package struct RequestedKey: Sendable {
    /// What a content identifier names a key by; `nil` if it names none.
    package typealias Rule = @Sendable (ContentIdentifier) -> String?

    /// What the request names the key by; `nil` if only the SPC names it.
    package let name: String?
    /// What the SPC names the key by; `nil` for any part of a key URI: the whole, the text after the scheme, the last path component or the
    /// host.
    package let nameInSPC: Rule?
    /// The key's content, if the request says it beside the key or, given its content identifier, the SPC does.
    package let content: @Sendable (ContentIdentifier?) -> String?

    package init(
        name: String?, inSPC rule: Rule? = nil,
        content: @escaping @Sendable (ContentIdentifier?) -> String? = { _ in nil }
    ) {
        self.name = name
        nameInSPC = rule
        self.content = content
    }

    /// The SPC names the key by any part of a key URI.
    package static let namedInSPC = RequestedKey(name: nil)

    /// The SPC names the key.
    /// - Parameter rule: what a content identifier names the key by; `nil` means the identifier itself.
    package static func namedInSPC(_ rule: @escaping Rule) -> RequestedKey { RequestedKey(name: nil, inSPC: rule) }

    /// The request names the key.
    /// - Parameters:
    ///   - name: the name.
    ///   - rule: what the SPC's content identifier names the key by; `nil` if it may say anything. Defaults to its text.
    package static func named(_ name: String, inSPC rule: @escaping Rule = { $0.text }) -> RequestedKey {
        RequestedKey(name: name, inSPC: rule)
    }
}
