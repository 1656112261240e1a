import Foundation
import LatchkeyCore
import Testing

/// The input of a document's sample: a key URI, a token and addresses, one of them odd.
struct OddInput: Sendable, CustomTestStringConvertible {
    /// The odd part, the key in a table of differences.
    let label: String
    var key: String
    var token = "demo"
    var certificateURL = "https://certificates.example/fps.cer"
    var licenseURL = "https://licenses.example/fps"

    var testDescription: String { label }
}

extension OddInput {
    /// Key URIs as packagers write them, and as no packager should.
    /// - Parameter front: the text before the last part, such as `skd://h.example/license/`.
    static func keys(behind front: String) -> [OddInput] {
        (ends.map { front + $0 } + wholes).map { key in
            OddInput(label: key.count > 120 ? "\(key.prefix(40))…" : key, key: key)
        }
    }

    private static let ends = [
        "movie-1", "movie-1?x=1", "movie-1?x=a/b", "movie-1?", "movie-1?a?b=c", "movie-1?kid=0a1b&KID=2&b=9",
        "movie-1#f",
        "movie-1#a/b", "movie-1/", "movie-1//", "my%20movie", "a%2Fb", "gr%C3%B6%C3%9Fe", "größe", "a b", "a;b=1;c",
        ";guid",
        ";guid?x=1;y=2", "id:iv", "a+b=/c=", "MTIz+4/5=", "100%", "%zz", "a|b", "a&b=c", "a%2520b", "..", "skd/skd",
        "😀",
        "A.B~C_d", "", "?b=9", String(repeating: "x", count: 230),
    ]

    private static let wholes = [
        "skd://", "skd:", "skd:movie-1", "skd:a/b", "SKD://H.example/License/ABC", "skd://user:pw@h.example/a",
        "skd://h.example:8443/a", "skd://h.example", "skd://h.example?b=1", "skd://[::1]:8/a",
        "skd:https://h.example/a?cid=1", "https://h.example/a?b=1", "movie-1", "skd://id:iv", "skd://FairPlay",
    ]

    /// Tokens with characters that headers, JSON and URLs treat specially.
    /// - Parameter key: an ordinary key URI.
    static func tokens(with key: String) -> [OddInput] {
        ["a+b/c==|d", "a\"b\\c", "größe", "a b", "", "a\nb", "a&b=c", "a%20b"].map {
            OddInput(label: "token \($0.debugDescription)", key: key, token: $0)
        }
    }

    /// Addresses of a certificate.
    static func certificates(with key: String) -> [OddInput] {
        [
            "https://c.example/cert?was=here", "https://c.example/cert#f", "https://c.example/cert?Signature=a%2Bb%3D",
            "https://c.example/a%20b", "https://user@c.example:8443/cert", "https://c.example",
        ].map { OddInput(label: "certificate \($0)", key: key, certificateURL: $0) }
    }
}

/// Latchkey's differences from a document's sample, and the reasons; a part that becomes equal fails the test as well.
struct ListedDifference: Sendable {
    /// The inputs' labels; `nil` means all but `exceptions`.
    let inputs: [String]?
    let exceptions: [String]
    let parts: Set<Conversation.Part>
    let reason: String

    init(_ reason: String, _ parts: Set<Conversation.Part>, in inputs: [String]?, except exceptions: [String] = []) {
        self.reason = reason
        self.parts = parts
        self.inputs = inputs
        self.exceptions = exceptions
    }

    func covers(_ input: OddInput) -> Bool { inputs?.contains(input.label) ?? !exceptions.contains(input.label) }
}

extension [ListedDifference] {
    func parts(for input: OddInput) -> Set<Conversation.Part> {
        reduce(into: []) { parts, listed in
            if listed.covers(input) { parts.formUnion(listed.parts) }
        }
    }

    /// The table's own mistakes: nonexistent inputs, parts that are in two entries, entries without words.
    func flaws(for inputs: [OddInput]) -> [String] {
        let labels = Set(inputs.map(\.label))
        let unknown = flatMap { (($0.inputs ?? []) + $0.exceptions).filter { !labels.contains($0) } }.map {
            "There is no input \($0)."
        }
        let twice = inputs.flatMap { input in
            Conversation.Part.allCases.filter { part in
                filter { $0.covers(input) && $0.parts.contains(part) }.count > 1
            }.map { "\($0) of \(input.label) is listed twice." }
        }
        return unknown + twice
            + filter { $0.reason.count < 20 || $0.parts.isEmpty }.map { "An entry says nothing: \($0.reason)" }
    }
}
