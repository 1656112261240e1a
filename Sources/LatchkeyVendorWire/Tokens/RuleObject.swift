import LatchkeyDecision
import LatchkeyForms

/// An object in a token whose members are rules. An unknown rule cannot be enforced, so it is refused and never ignored.
struct RuleObject {
    private let members: [String: JSONValue]
    private let place: String

    /// - Parameters:
    ///   - value: the object.
    ///   - place: its place in the token.
    ///   - known: the names that its members may have.
    /// - Throws: `tokenMalformed` for another value, and for a member of another name.
    init(_ value: JSONValue, at place: String, known: [String]) throws(LicenseRefusal) {
        guard case .object(let members) = value else { throw .unknownRule(place, "is not an object") }
        if let name = members.keys.filter({ !known.contains($0) }).min() {
            throw .unknownRule(place, "states “\(name.prefix(40))”, which is not known here")
        }
        self.members = members
        self.place = place
    }

    /// A member; `nil` without it.
    /// - Throws: `tokenMalformed` for a value that cannot be read.
    func value<Value>(
        _ name: String, _ wanted: String, _ read: (JSONValue) -> Value?
    ) throws(LicenseRefusal) -> Value? {
        guard let value = members[name] else { return nil }
        guard let result = read(value) else { throw .unknownRule("\(place).\(name)", "is not \(wanted)") }
        return result
    }

    /// A member whose value is one of some words.
    func word<Value>(_ name: String, _ words: KeyValuePairs<String, Value>) throws(LicenseRefusal) -> Value? {
        try value(name, "one of \(words.map(\.key).joined(separator: ", "))") { value in
            words.first { $0.key == value.text }?.value
        }
    }

    func flag(_ name: String) throws(LicenseRefusal) -> Bool? { try value(name, "true or false") { $0.flag } }

    /// The entries of a member that is an array, each with its place; empty without the member.
    func entries(_ name: String) throws(LicenseRefusal) -> [(value: JSONValue, place: String)] {
        guard let value = members[name] else { return [] }
        return try Self.entries(value, at: "\(place).\(name)")
    }

    /// The entries of an array, each with its place.
    static func entries(_ value: JSONValue, at place: String) throws(LicenseRefusal) -> [(
        value: JSONValue, place: String
    )] {
        guard case .array(let values) = value else { throw .unknownRule(place, "is not an array") }
        return values.enumerated().map { ($1, "\(place)[\($0)]") }
    }
}

extension LicenseRefusal {
    /// A rule in a token that cannot be enforced.
    /// - Parameters:
    ///   - place: its place in the token.
    ///   - what: the problem, following “The token's …”.
    static func unknownRule(_ place: String, _ what: String) -> LicenseRefusal {
        LicenseRefusal(
            .tokenMalformed, reason: "The token's “\(place)” \(what).",
            remedy: "Correct the rule, or leave it out of the token and state it in the tenant's policy.")
    }
}
