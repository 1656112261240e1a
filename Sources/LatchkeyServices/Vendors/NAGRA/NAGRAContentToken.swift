import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyVendorWire

/// A NAGRA content token (ContentAuthZ): the content that an account's device may play, and its sessions.
///
/// Source: `Documentation/Vendors/NAGRA.md`, content token.
struct NAGRAContentToken: Sendable, Hashable {
    private let claims: JSONValue
    private let date: Date

    /// - Parameters:
    ///   - text: the token.
    ///   - key: the key that signs tokens; `nil` accepts any signature.
    ///   - date: now.
    init(_ text: String, key: Secret?, date: Date) throws(LicenseRefusal) {
        let token = try JSONWebToken.checked(text, key: key, date: date)
        guard token.claims["typ"]?.text == "ContentAuthZ" else {
            throw Self.refusal("3005", "The token's “typ” is not ContentAuthZ.")
        }
        guard token.claims["ver"]?.text == "1.0" else { throw Self.refusal("3001", "The token's “ver” is not 1.0.") }
        guard case .array(let rights) = token.claims["contentRights"], !rights.isEmpty else {
            throw Self.refusal("3007", "The token has no “contentRights”.")
        }
        for right in rights {
            for name in ["start", "end"] where right[name] != nil && Self.date(right[name]) == nil {
                throw Self.refusal("3007", "The “\(name)” of a content right is not a date.")
            }
        }
        claims = token.claims
        self.date = date
    }

    private static func refusal(_ code: String, _ reason: String) -> LicenseRefusal {
        LicenseRefusal(.vendor(code: code, status: 400), reason: reason)
    }

    /// The account whose sessions count together; empty without one.
    var account: String { claims["device"]?["accountId"]?.text ?? "" }

    /// Whether playback of any of its content needs a session.
    var needsSession: Bool { rights.contains { $0["sessionControl"]?["sessionControlEnabled"]?.flag == true } }

    /// The number of concurrent sessions that the account may have; `nil` if the token does not say.
    var sessionLimit: Int? {
        rights.compactMap { $0["sessionControl"]?["maxSessions"]?.number }.min().flatMap { Int(exactly: $0) }
    }

    /// Why the token does not cover a content now; `nil` if it does.
    func objection(to content: String?) -> LicenseRefusal? {
        guard let right = rights.first(where: { $0["contentId"]?.text == content }) else {
            return .notCovered("The token has no right to the content.")
        }
        if let start = Self.date(right["start"]), date < start {
            return .notCovered("The token's right to the content has not begun.")
        }
        if let end = Self.date(right["end"]), date >= end {
            return .notCovered("The token's right to the content has ended.")
        }
        return nil
    }

    /// The terms of a license that may be stored; `nil` if none may, so that the policy decides.
    var terms: LicenseTerms? {
        guard rights.count == 1, let right = rights.first, right["storable"]?.flag == true else { return nil }
        return LicenseTerms(right["duration"]?.seconds.map { .persistentFor($0) } ?? .persistent)
    }

    private var rights: [JSONValue] {
        guard case .array(let rights) = claims["contentRights"] else { return [] }
        return rights
    }

    /// A number of seconds or an ISO 8601 date: the form is undocumented.
    private static func date(_ value: JSONValue?) -> Date? {
        value?.number.map { Date(timeIntervalSince1970: $0) }
            ?? value?.text.flatMap { try? Date($0, strategy: .iso8601) }
    }
}
