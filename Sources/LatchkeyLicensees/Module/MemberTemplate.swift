import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

/// How a license's terms become members of a module's input. It is data of the configuration, because only licensees know most names.
///
/// A text such as `{leaseSeconds}` stands for the term's value. An object whose only member is named so, as in
/// `{"{hdcp}": {"type0": 1, "type1": 2}}`, chooses by the value. A member whose term the license does not have is left out, and so is an
/// object all of whose terms the license does not have.
///
/// Source: `Documentation/Licensees.md` §6.
package struct MemberTemplate: Sendable, Equatable {
    /// The terms of a license, and its content's IV.
    enum Term: String, CaseIterable {
        case leaseSeconds, rentalSeconds, storageSeconds, playbackSeconds, persistent, hdcp, iv

        init?(placeholder: String) {
            guard placeholder.hasPrefix("{"), placeholder.hasSuffix("}") else { return nil }
            self.init(rawValue: String(placeholder.dropFirst().dropLast()))
        }
    }

    let members: [String: JSONValue]

    /// The public names only: a lease. Without an offline object, the license is for streaming.
    package static let usual = MemberTemplate(members: ["lease-duration": .text("{leaseSeconds}")])

    /// The members for a license.
    /// - Parameter iv: the content's IV; sent if the template has a member for it.
    /// - Throws: `unmapped` for a term of the license that the template has no member for.
    func members(for terms: LicenseTerms, iv: Secret) throws(ModuleFailure) -> [String: JSONValue] {
        var filling = Filling(values: Self.values(of: terms))
        let needed = filling.values.keys
        filling.values[.iv] = .text(iv.revealed.base64EncodedString())
        let filled = try filling.filled(members)
        if let term = needed.filter({ !filling.used.contains($0) }).map(\.rawValue).min() { throw .unmapped(term) }
        return filled
    }

    private static func values(of terms: LicenseTerms) -> [Term: JSONValue] {
        let seconds = { (duration: Duration) in JSONValue.number(Double(duration.wholeSeconds)) }
        var values: [Term: JSONValue] =
            switch terms.validity {
            case .unlimited: [:]
            case .lease(let lease): [.leaseSeconds: seconds(lease)]
            case .rental(let rental): [.rentalSeconds: seconds(rental)]
            case .leaseAndRental(let lease, let rental):
                [.leaseSeconds: seconds(lease), .rentalSeconds: seconds(rental)]
            case .persistent: [.persistent: .flag(true)]
            case .persistentFor(let storage): [.persistent: .flag(true), .storageSeconds: seconds(storage)]
            case .dualExpiry(let storage, let playback):
                [.persistent: .flag(true), .storageSeconds: seconds(storage), .playbackSeconds: seconds(playback)]
            }
        values[.hdcp] = terms.hdcp.map { .text($0.rawValue) }
        return values
    }
}

/// One license's values on their way into a template.
private struct Filling {
    typealias Term = MemberTemplate.Term

    var values: [Term: JSONValue]
    private(set) var used: Set<Term> = []

    init(values: [Term: JSONValue]) { self.values = values }

    mutating func filled(_ members: [String: JSONValue]) throws(ModuleFailure) -> [String: JSONValue] {
        var result: [String: JSONValue] = [:]
        for (name, value) in members { result[name] = try filled(value) }
        return result
    }

    /// - Returns: `nil` for a value that is left out.
    private mutating func filled(_ value: JSONValue) throws(ModuleFailure) -> JSONValue? {
        switch value {
        case .text(let text): Term(placeholder: text).map { take($0) } ?? value
        case .array(let elements): try filled(elements)
        case .object(let members): try filled(object: members)
        default: value
        }
    }

    private mutating func filled(_ elements: [JSONValue]) throws(ModuleFailure) -> JSONValue {
        var result: [JSONValue] = []
        for element in elements { if let filled = try filled(element) { result.append(filled) } }
        return .array(result)
    }

    private mutating func filled(object members: [String: JSONValue]) throws(ModuleFailure) -> JSONValue? {
        if let (term, choices) = members.choice {
            guard let value = take(term) else { return nil }
            let name = value.text ?? value.canonicalText
            guard let chosen = choices[name] else { throw .unmapped("\(term.rawValue) \(name)") }
            return chosen
        }
        let terms = JSONValue.object(members).terms
        guard terms.isEmpty || terms.contains(where: { values[$0] != nil }) else { return nil }
        return .object(try filled(members))
    }

    private mutating func take(_ term: Term) -> JSONValue? {
        used.insert(term)
        return values[term]
    }
}

extension [String: JSONValue] {
    /// The term by whose value an object chooses, and the choices; `nil` for any other object.
    fileprivate var choice: (MemberTemplate.Term, [String: JSONValue])? {
        guard count == 1, let (name, value) = first, let term = MemberTemplate.Term(placeholder: name),
            case .object(let choices) = value
        else { return nil }
        return (term, choices)
    }
}

extension JSONValue {
    /// The terms that a value of a template stands for, at any depth.
    fileprivate var terms: Set<MemberTemplate.Term> {
        switch self {
        case .text(let text): Set([MemberTemplate.Term(placeholder: text)].compactMap(\.self))
        case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.terms) }
        case .object(let members):
            members.choice.map { [$0.0] } ?? members.values.reduce(into: []) { $0.formUnion($1.terms) }
        default: []
        }
    }

    /// Appends a problem for each placeholder that names no term.
    fileprivate func check(_ place: JSONPlace, _ problems: inout [JSONProblem]) {
        func check(_ text: String, _ place: JSONPlace) {
            guard text.hasPrefix("{"), text.hasSuffix("}"), MemberTemplate.Term(placeholder: text) == nil else {
                return
            }
            let names = MemberTemplate.Term.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
            problems.append(JSONProblem(place, "This placeholder names no term.", remedy: "Write one of \(names)."))
        }
        switch self {
        case .text(let text): check(text, place)
        case .array(let elements):
            for (index, element) in elements.enumerated() { element.check(place.element(index), &problems) }
        case .object(let members):
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                check(name, place.member(name))
                value.check(place.member(name), &problems)
            }
        default: break
        }
    }
}

extension MemberTemplate {
    /// The members that the server fills itself.
    private static let own: Set<String> = ["id", "spc", "asset-id", "content-id", "ck"]

    static let form = JSONForm<MemberTemplate>(
        schema: .object, expected: "an object",
        read: { value, place, problems in
            guard case .object(let members) = value else {
                problems.append(JSONProblem(place, "This is not an object.", remedy: "Write members in braces."))
                return nil
            }
            value.check(place, &problems)
            for name in own.intersection(members.keys).sorted() {
                problems.append(
                    JSONProblem(place.member(name), "The server writes this member itself.", remedy: "Remove it."))
            }
            return MemberTemplate(members: members)
        }, write: { .object($0.members) })
}
