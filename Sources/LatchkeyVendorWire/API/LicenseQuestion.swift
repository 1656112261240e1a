package import Foundation
package import LatchkeyCore
package import LatchkeyDecision

/// A vendor's license request without its envelope, with its credentials checked.
package struct LicenseQuestion: Sendable {
    /// The SPC.
    package var spc: Data
    /// The key that the license is for.
    package var key: RequestedKey
    /// The caller.
    package var credentials: Credentials
    /// Whether the app stores the license.
    package var isStored: Bool
    /// Why the credentials do not cover a key, given the SPC's content identifier; `nil` if they do.
    ///
    /// For vendors whose requests name the key only in the SPC: the server knows the key only after it has opened the SPC.
    package var objection: Objection
    /// Narrows the grant to the credentials' terms for a key, given the SPC's content identifier.
    package var narrow: Narrow

    package typealias Objection = @Sendable (VendorKey, ContentIdentifier) -> LicenseRefusal?
    package typealias Narrow =
        @Sendable (inout VendorGrant, KeyFacts, ContentIdentifier) throws(LicenseRefusal) -> Void

    /// The caller of a license request.
    package enum Credentials: Sendable {
        /// The grant of a token that the wire has checked. Without terms the policy decides.
        case checked(VendorGrant)
        /// A token of the server that mounts the wire, unchecked; `nil` if there is none where the vendor's players send theirs.
        case token(String?)
    }

    /// The grant of checked credentials; empty without them.
    package var grant: VendorGrant {
        get { if case .checked(let grant) = credentials { grant } else { VendorGrant(tokenID: "") } }
        set { credentials = .checked(newValue) }
    }

    /// A question with a token that the server that mounts the wire checks.
    package init(
        spc: Data, key: RequestedKey, token: String?, isStored: Bool = false,
        objection: @escaping Objection = { _, _ in nil }
    ) {
        self.init(spc: spc, key: key, isStored: isStored, objection: objection)
        credentials = .token(token)
    }

    /// - Parameter terms: the grant's, for credentials that grant nothing else.
    package init(
        spc: Data, key: RequestedKey, terms: LicenseTerms? = nil, grant: VendorGrant? = nil, isStored: Bool = false,
        objection: @escaping Objection = { _, _ in nil }, narrow: @escaping Narrow = { _, _, _ in }
    ) {
        self.spc = spc
        self.key = key
        var grant = grant ?? VendorGrant(tokenID: "")
        if let terms { grant.terms = terms }
        credentials = .checked(grant)
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

/// The key that a license is for: named by the request, by the SPC's content identifier, or by both.
///
/// If both name a key, they have to name the same one.
package struct RequestedKey: Sendable {
    /// Returns the name that a content identifier gives a key; `nil` if it names none.
    package typealias Rule = @Sendable (ContentIdentifier) -> String?

    /// The key's name in the request; `nil` if only the SPC names it.
    package let name: String?
    /// The key's name in the SPC; `nil` for any part of a key URI: the whole, the text after the scheme, the last path component or the
    /// host.
    package let nameInSPC: Rule?
    /// The key's content, if the request or, given its content identifier, the SPC states it.
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

    /// Request and SPC name the key, each by any part of a key URI.
    package static func anyPart(of text: String) -> RequestedKey { RequestedKey(name: part(of: text)) }

    /// The name of the key in a key URI, or in a part of one: the key's identifier, or else the text after the scheme.
    package static func part(of text: String) -> String { kid(in: text) ?? KeyURI(text).remainder }

    /// The first part of a key URI that is a key's identifier: the text after the scheme, the last path component, the host.
    package static func kid(in text: String) -> String? {
        let uri = KeyURI(text)
        return [uri.remainderBeforeQuery, uri.pathComponents.last, uri.host].compactMap { $0 }.first {
            KeyID($0) != nil
        }
    }

    /// The SPC names the key.
    /// - Parameter rule: returns the key's name in a content identifier; `nil` means the identifier itself.
    package static func namedInSPC(_ rule: @escaping Rule) -> RequestedKey { RequestedKey(name: nil, inSPC: rule) }

    /// The request names the key.
    /// - Parameters:
    ///   - name: the name.
    ///   - rule: returns the key's name in the SPC's content identifier; `nil` accepts any identifier. Defaults to its text.
    package static func named(_ name: String, inSPC rule: @escaping Rule = { $0.text }) -> RequestedKey {
        RequestedKey(name: name, inSPC: rule)
    }
}
