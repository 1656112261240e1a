import LatchkeyCore

/// One problem in a JSON file, by its place.
package struct JSONProblem: Sendable, Hashable {
    /// The place, such as `validity.lease` or `examples[0].facts.now`; empty for the whole.
    package let place: String
    /// The problem, in one sentence.
    package let what: String
    /// The remedy, one imperative sentence.
    package let remedy: String

    package init(_ place: JSONPlace, _ what: String, remedy: String) {
        self.place = place.text
        self.what = what
        self.remedy = remedy
    }
}

extension JSONProblem: CustomStringConvertible {
    /// The place, the problem and the remedy, in one line.
    package var description: String { "\(place.isEmpty ? "" : place + ": ")\(what) \(remedy)" }
}

/// A place in a JSON text, written as members and indices.
package struct JSONPlace: Sendable, Hashable {
    /// The whole text.
    package static let root = JSONPlace(text: "")
    let text: String

    package init(text: String) {
        self.text = text
    }

    /// - Parameter name: a member's name, shortened, on one line, and quoted if it would be read as several.
    package func member(_ name: String) -> JSONPlace {
        let isPlain = !name.isEmpty && name.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "[") }
        let shown = String(name.prefix(60)).onOneLine
        return JSONPlace(text: (text.isEmpty ? "" : text + ".") + (isPlain ? shown : "“\(shown)”"))
    }

    package func element(_ index: Int) -> JSONPlace { JSONPlace(text: "\(text)[\(index)]") }
}

/// JSON that is not valid for its form, with every problem, not only the first.
package struct JSONProblems: DiagnosableError, Equatable {
    package let code: String
    /// All problems, in the order of the file's form.
    package let problems: [JSONProblem]

    package init(code: String, problems: [JSONProblem]) {
        self.code = code
        self.problems = problems
    }

    package var reason: String {
        problems.map { "\($0.place.isEmpty ? "" : $0.place + ": ")\($0.what)" }.joined(separator: " ")
    }
    package var remedy: String { problems.first?.remedy ?? "Correct the file." }
}
