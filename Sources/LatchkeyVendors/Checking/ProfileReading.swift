import Foundation

/// A profile's JSON, read as far as possible.
struct ProfileReading {
    /// The profile; `nil` if the form is wrong.
    private(set) var profile: VendorProfile?
    private(set) var problems: [ProfileProblem] = []

    init(_ json: Data) {
        let first = Self.decode(json)
        profile = first.profile
        problems = profile.map { first.problems + $0.problems } ?? Self.problems(in: json, after: first)
    }

    /// Finds errors after the first: replaces the member with the error by a correct one and decodes again.
    private static func problems(in json: Data, after first: Attempt) -> [ProfileProblem] {
        var problems = first.problems
        guard var members = (try? JSONSerialization.jsonObject(with: json)) as? [String: Any] else { return problems }
        var broken = first.brokenMember
        var replaced: Set<String> = []
        while let member = broken, replaced.insert(member).inserted {
            members[member] = placeholder[member]
            guard let rest = try? JSONSerialization.data(withJSONObject: members) else { break }
            let next = decode(rest)
            problems += next.problems
            broken = next.brokenMember
        }
        var seen: Set<ProfileProblem> = []
        return problems.filter { seen.insert($0).inserted }
    }

    /// The members that a profile requires.
    private static var placeholder: [String: Any] {
        [
            "identifier": "placeholder", "name": "placeholder", "contentIdentifier": "wholeURI",
            "certificate": ["inline": "certificate"], "license": ["url": ["base": "httpsURI"]], "decoder": "raw",
        ]
    }

    /// What decoding gave: a profile, or the member with the first error, which is `nil` if the whole document is wrong.
    private typealias Attempt = (profile: VendorProfile?, problems: [ProfileProblem], brokenMember: String?)

    private static func decode(_ json: Data) -> Attempt {
        let members = JSONMembers()
        do {
            let profile = try members.decode(VendorProfile.self, from: json)
            return (profile, members.unread.map(ProfileProblem.init(unread:)), nil)
        } catch {
            let (path, reason) = DecodingFailure.describe(error)
            let problem = ProfileProblem(field: path.jsonPlace, reason: reason)
            return (nil, members.unknown.map(ProfileProblem.init(unread:)) + [problem], path.first?.stringValue)
        }
    }
}

extension ProfileProblem {
    fileprivate init(unread field: String) {
        self.init(field: field, reason: "Nothing reads this member; it has no meaning here, or its name is misspelled.")
    }
}

/// Describes a decoding error in words.
package enum DecodingFailure {
    package static func describe(_ error: any Error) -> (path: [any CodingKey], reason: String) {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            (context.codingPath + [key], "This member is missing.")
        case DecodingError.typeMismatch(let type, let context):
            (context.codingPath, "This should be \(form(of: type)).")
        case DecodingError.valueNotFound(let type, let context):
            (context.codingPath, "This is null and should be \(form(of: type)).")
        case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty:
            ([], "This is not JSON\(detail(context.underlyingError)).")
        case DecodingError.dataCorrupted(let context): (context.codingPath, context.debugDescription)
        default: ([], "This cannot be read.")
        }
    }

    private static func form(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Int.Type, is any BinaryInteger.Type: "a whole number"
        case is Bool.Type: "true or false"
        case is any Sequence.Type where "\(type)".hasPrefix("Array"): "an array"
        default: "an object"
        }
    }

    private static func detail(_ error: (any Error)?) -> String {
        guard let text = (error as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String else { return "" }
        return ": " + text.prefix(100).trimmingCharacters(in: .punctuationCharacters)
    }
}

extension [any CodingKey] {
    /// The path as a problem shows it: `license.headers[0].value`.
    package var jsonPlace: String {
        let text = reduce(into: "") { text, key in
            // A dictionary's key that is a number has an integer value too, but its name is not "Index".
            let isIndex = key.intValue != nil && key.stringValue.hasPrefix("Index ")
            text += isIndex ? "[\(key.intValue ?? 0)]" : ".\(key.stringValue.prefix(60))"
        }
        return text.isEmpty ? "$" : String(text.drop { $0 == "." })
    }
}
