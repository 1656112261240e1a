/// Where a text comes from: a part of the key URI, a setting, a credential, the SPC, or a combination of those.
///
/// One small language for content identifiers, URLs, header fields and bodies. A rule gives a text or nothing. `firstOf` tries its next
/// rule if a rule gives nothing, and a request leaves out a header or field whose rule gives nothing.
///
/// In JSON a rule without parameters is its name (`"lastPathComponent"`). Any other rule is an object with one key
/// (`{"setting": "licenseURL"}`, `{"firstOf": ["host", "remainder"]}`).
///
/// Source: `Documentation/Vendors/README.md` §23.1, §23.2, §23.4 and §23.5.
package indirect enum TextRule: Sendable, Hashable {
    // Leaves.

    /// A part of the key URI.
    case keyURI(KeyURIPart)
    /// The rest of the key URI after the last occurrence of a text: after the last `/`, including a query that follows.
    case afterLast(String)
    /// The value of a query item of the key URI. Names are compared without regard to letter case.
    case query(String)
    /// A value of the request that is being made.
    case request(RequestValue)
    /// This text.
    case fixed(String)
    /// A setting of the integration. An empty setting counts as missing.
    case setting(String)
    /// A credential of this attempt. An empty credential counts as missing.
    case credential(String)
    /// A value of the reply to the lookup that precedes the license request, such as an entitlement's token URL.
    case lookup(String)
    /// A value of the secure session that the license belongs to, such as its token.
    case session(String)
    /// A value at a path of the license reply's JSON, for the terms.
    case reply(String)

    // Combinators.

    /// The rule's text if a key is requested for this purpose, else nothing.
    case onlyFor(KeyPurpose, TextRule)
    /// The first text that is not empty.
    case firstOf([TextRule])
    /// All texts in a row; nothing if a rule gives nothing.
    case all([TextRule])
    /// The texts that the rules give, joined by a separator; nothing if no rule gives a text.
    case joined([TextRule], separator: String)
    /// The rule's text, transformed.
    case transformed(TextTransform, TextRule)
    /// The part of a text before the first occurrence of another text; the whole text if the other does not occur.
    case upTo(String, in: TextRule)
    /// The last rule's text with the first occurrence of a text replaced.
    case replacing(String, with: TextRule, in: TextRule)
    /// The second rule's text, which reads the first rule's text in place of the key URI.
    case from(TextRule, take: TextRule)
    /// A text with names in braces, `https://host/{contentID}`: a setting's name, `contentID`, `host`, `lastPathComponent` or `remainder`.
    case template(String)
    /// A JSON document with its keys in alphabetical order.
    case json(JSONTemplate)
}

/// A part of the key URI, as text. Only `lastPathComponent` is percent-decoded.
package enum KeyURIPart: String, Sendable, CaseIterable {
    /// The key URI as the playlist states it.
    case wholeURI
    /// The text after `skd://`.
    case remainder
    /// The text between `skd://` and the first `?`.
    case remainderBeforeQuery
    /// The text after the first `?`.
    case afterFirstQuestionMark
    /// The text after the last `?`.
    case afterLastQuestionMark
    /// The last component of the URI's path, as in a URL: without query and fragment, percent-decoded, ignoring a `/` at its end.
    /// Nothing if there is no path.
    case lastPathComponent
    /// The text between `skd://` and the first of `/ ? #`.
    case host
    /// The host as a URL has it: `host` without a user, a port, and the brackets of an IPv6 address.
    case hostName
    /// The value of the first query item, whatever its name.
    case firstQueryValue
    /// The key URI with its scheme replaced by `https`, or the complete address that follows `skd:`. Nothing for a `data:` URI.
    case httpsURI
}

/// A value of the request that is being made.
package enum RequestValue: String, Sendable, CaseIterable {
    /// The name of the key in the request: the profile's `requestContentID`.
    case contentID
    /// The name of the key in the SPC, if it is text.
    case spcIdentifier
    /// The SPC in base64, standard alphabet, padded, without line breaks.
    case spc
    /// The SPC in base64 of the URL-safe alphabet, padded.
    case spcURLSafe
    /// A UUID in lower case, new for every request.
    case messageID
}

/// A change to a text.
package enum TextTransform: String, Sendable, CaseIterable {
    /// The text that base64 stands for, decoded leniently.
    case base64Decoded
    /// The base64 of the text's UTF-8 bytes.
    case base64
    /// The text with percent escapes decoded.
    case percentDecoded
    /// The text with all but unreserved characters percent-encoded.
    case percentEncoded
    /// The text itself if it is base64 (standard alphabet, padded), else nothing.
    case ifBase64
}

extension TextRule: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self = .fixed(value) }
}

// Rules as profiles spell them.
extension TextRule {
    package static let wholeURI = Self.keyURI(.wholeURI)
    package static let remainder = Self.keyURI(.remainder)
    package static let remainderBeforeQuery = Self.keyURI(.remainderBeforeQuery)
    package static let afterFirstQuestionMark = Self.keyURI(.afterFirstQuestionMark)
    package static let afterLastQuestionMark = Self.keyURI(.afterLastQuestionMark)
    package static let lastPathComponent = Self.keyURI(.lastPathComponent)
    package static let host = Self.keyURI(.host)
    package static let hostName = Self.keyURI(.hostName)
    package static let firstQueryValue = Self.keyURI(.firstQueryValue)
    package static let httpsURI = Self.keyURI(.httpsURI)
    package static let contentID = Self.request(.contentID)
    package static let spcIdentifier = Self.request(.spcIdentifier)
    package static let spc = Self.request(.spc)
    package static let spcURLSafe = Self.request(.spcURLSafe)
    package static let messageID = Self.request(.messageID)
    package static func base64Decoded(_ rule: TextRule) -> Self { .transformed(.base64Decoded, rule) }
    package static func base64(_ rule: TextRule) -> Self { .transformed(.base64, rule) }
    package static func percentDecoded(_ rule: TextRule) -> Self { .transformed(.percentDecoded, rule) }
    package static func percentEncoded(_ rule: TextRule) -> Self { .transformed(.percentEncoded, rule) }
    package static func ifBase64(_ rule: TextRule) -> Self { .transformed(.ifBase64, rule) }
}
