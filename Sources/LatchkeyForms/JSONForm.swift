import Foundation
import LatchkeyCore

/// The JSON form of one kind of value: how it is read, with every problem by its place, and how it is written.
package struct JSONForm<Value: Sendable>: Sendable {
    package let read: @Sendable (JSONValue, JSONPlace, inout [JSONProblem]) -> Value?
    /// The canonical form: equal values are written the same way.
    package let write: @Sendable (Value) -> JSONValue
    /// The expected value, with an article; empty for an object.
    package private(set) var expected: String
    /// The members within the value: `.name` of an object, `[].name` of a list of them.
    private(set) var inner: [MemberEntry] = []

    /// The schema of the values that are read. It may allow more than the form: a form's problems can say more than a schema.
    package private(set) var schema: JSONSchema

    package init(
        schema: JSONSchema = JSONSchema(), expected: String = "",
        read: @escaping @Sendable (JSONValue, JSONPlace, inout [JSONProblem]) -> Value?,
        write: @escaping @Sendable (Value) -> JSONValue
    ) {
        (self.schema, self.expected) = (schema, expected)
        self.read = read
        self.write = write
    }

    /// A single value.
    /// - Parameter expected: the expected value, with an article: `a duration such as 90s`.
    package init(
        _ expected: String, schema: JSONSchema = JSONSchema(), read: @escaping @Sendable (JSONValue) -> Value?,
        write: @escaping @Sendable (Value) -> JSONValue
    ) {
        self.init(
            schema: schema, expected: expected,
            read: { value, place, problems in
                if let read = read(value) { return read }
                problems.append(JSONProblem(place, value.found, remedy: "Write \(expected)."))
                return nil
            }, write: write)
    }

    /// A value written as text.
    package init(
        text expected: String, schema: JSONSchema = .text, read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String
    ) {
        self.init(expected, schema: schema, read: { $0.text.flatMap(read) }, write: { .text(write($0)) })
    }

    /// One of some words, which a problem repeats unchanged.
    package init(
        words: [String], read: @escaping @Sendable (String) -> Value?, write: @escaping @Sendable (Value) -> String
    ) {
        let expected = "one of \(words.joined(separator: ", "))"
        self.init(
            schema: .words(words), expected: expected,
            read: { value, place, problems in
                if let read = value.text.flatMap(read) { return read }
                let shown = value.text.map { "“\(String($0.prefix(40)).onOneLine)” is not an allowed value." }
                problems.append(JSONProblem(place, shown ?? value.found, remedy: "Write \(expected)."))
                return nil
            }, write: { .text(write($0)) })
    }
}

extension ClosedRange {
    fileprivate func keywords(_ number: (Bound) -> Double) -> [String: JSONValue] {
        ["minimum": .number(number(lowerBound)), "maximum": .number(number(upperBound))]
    }
}

extension JSONForm where Value == Bool {
    package static let flag = JSONForm(
        "true or false", schema: .flag,
        read: { value in
            guard case .flag(let flag) = value else { return nil }
            return flag
        }, write: { .flag($0) })
}

extension JSONForm where Value == Int {
    package static func whole(_ range: ClosedRange<Int>) -> JSONForm {
        JSONForm(
            "a whole number from \(range.lowerBound) to \(range.upperBound)",
            schema: .whole.with(range.keywords { Double($0) }),
            read: { value in
                guard case .number(let number) = value, let whole = Int(exactly: number), range.contains(whole) else {
                    return nil
                }
                return whole
            }, write: { .number(Double($0)) })
    }
}

extension JSONForm where Value == Double {
    package static func fraction(_ range: ClosedRange<Double>) -> JSONForm {
        JSONForm(
            "a number from \(range.lowerBound) to \(range.upperBound)", schema: .number.with(range.keywords { $0 }),
            read: { value in
                guard case .number(let number) = value, range.contains(number) else { return nil }
                return number
            }, write: { .number($0) })
    }
}

extension JSONForm where Value == String {
    /// 1 to 256 characters.
    package static let text = JSONForm(
        text: "a text of 1 to 256 characters",
        schema: .text.with(["minLength": .number(1), "maxLength": .number(256)]),
        read: { (1...256).contains($0.count) ? $0 : nil }, write: { $0 })

    /// A text of any length.
    package static let anyText = JSONForm(text: "a text", read: { $0 }, write: { $0 })

    /// Letters, digits, and `-`, `_`, `.`, at most 64: a name in files, metrics and members of other files.
    package static let name = JSONForm(
        text: "a name of 1 to 64 letters, digits, “-”, “_” or “.”",
        read: { $0.isPolicyName ? $0 : nil }, write: { $0 })
}

extension String {
    fileprivate var isPolicyName: Bool {
        (1...64).contains(utf8.count)
            && unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains($0))
            }
    }
}

extension JSONForm where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of an enumeration's words.
    package static var word: JSONForm {
        JSONForm(words: Value.allCases.map(\.rawValue), read: { Value(rawValue: $0) }, write: { $0.rawValue })
    }
}

extension JSONForm {
    /// An array, every element with its problems.
    package static func list<Element: Sendable>(_ element: JSONForm<Element>) -> JSONForm where Value == [Element] {
        JSONForm(
            schema: [element.schema], expected: element.expected.isEmpty ? "" : "a list, each \(element.expected)",
            read: { value, place, problems in
                guard case .array(let values) = value else {
                    problems.append(JSONProblem(place, value.found, remedy: "Write a list in brackets."))
                    return nil
                }
                return values.enumerated().compactMap { element.read($1, place.element($0), &problems) }
            }, write: { .array($0.map(element.write)) }
        ).containing(element.inner.map { $0.within("[]") })
    }

    /// The form, whose schema is defined once in descriptions, under a name.
    package func named(_ name: String) -> JSONForm {
        var form = self
        form.schema = schema.named(name)
        return form
    }

    /// The form of another value, converted from this one's.
    package func mapped<Other: Sendable>(
        _ make: @escaping @Sendable (Value) -> Other, write: @escaping @Sendable (Other) -> JSONValue
    ) -> JSONForm<Other> {
        JSONForm<Other>(schema: schema, expected: expected, read: { read($0, $1, &$2).map(make) }, write: write)
            .containing(inner)
    }

    /// The form, whose values contain members.
    func containing(_ inner: [MemberEntry]) -> JSONForm {
        var form = self
        form.inner = inner
        return form
    }

    /// An array without order; equal elements count once. Written in the order of the written elements.
    package static func set<Element: Hashable & Sendable>(_ element: JSONForm<Element>) -> JSONForm
    where Value == Set<Element> {
        let list = JSONForm<[Element]>.list(element)
        return JSONForm(
            schema: list.schema, expected: list.expected, read: { list.read($0, $1, &$2).map { Set($0) } },
            write: { .array($0.map(element.write).sorted { $0.canonicalText < $1.canonicalText }) })
    }

    /// An array without duplicates, in its order.
    package static func distinct<Element: Hashable & Sendable>(_ element: JSONForm<Element>) -> JSONForm
    where Value == [Element] {
        let list = JSONForm<[Element]>.list(element)
        return JSONForm(
            schema: list.schema, expected: list.expected,
            read: { value, place, problems in
                let count = problems.count
                guard let read = list.read(value, place, &problems) else { return nil }
                // Elements that could not be read are missing, and would shift the places of the others.
                guard problems.count == count else { return read }
                var known: Set<Element> = []
                for (index, element) in read.enumerated() where !known.insert(element).inserted {
                    problems.append(.twice(place.element(index)))
                }
                return read
            }, write: list.write)
    }

    /// An unordered array without duplicates.
    package static func distinct<Element: Hashable & Sendable>(_ element: JSONForm<Element>) -> JSONForm
    where Value == Set<Element> {
        let (list, set) = (JSONForm<[Element]>.distinct(element), JSONForm<Set<Element>>.set(element))
        return JSONForm(
            schema: list.schema, expected: list.expected, read: { list.read($0, $1, &$2).map { Set($0) } },
            write: set.write)
    }

    /// A set that must have an element, because otherwise nothing would be allowed.
    package static func someOf<Element: Hashable & Sendable>(_ element: JSONForm<Element>) -> JSONForm
    where Value == Set<Element> {
        let set = JSONForm<Set<Element>>.set(element)
        return JSONForm(
            schema: set.schema.with(["minItems": .number(1)]), expected: set.expected,
            read: { value, place, problems in
                guard value != .array([]) else {
                    problems.append(
                        JSONProblem(
                            place, "An empty list allows nothing at all.",
                            remedy: "List the allowed values, or omit the member."))
                    return nil
                }
                return set.read(value, place, &problems)
            }, write: set.write)
    }

    /// An object whose members' names are values, too.
    package static func members<Key: Hashable & Sendable, Element: Sendable>(
        _ key: JSONForm<Key>, _ element: JSONForm<Element>
    ) -> JSONForm where Value == [Key: Element] {
        JSONForm(
            schema: .map(element.schema).with(["propertyNames": key.schema.json]),
            expected: element.expected.isEmpty ? "" : "an object, each value \(element.expected)",
            read: { value, place, problems in
                guard case .object(let members) = value else {
                    problems.append(.notAnObject(place, value))
                    return nil
                }
                var read: [Key: Element] = [:]
                for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                    let place = place.member(name)
                    guard let key = key.read(.text(name), place, &problems) else { continue }
                    read[key] = element.read(value, place, &problems)
                }
                return read
            },
            write: { values in
                let members = values.map { (key.write($0).text ?? "", element.write($1)) }
                return .object(Dictionary(members) { first, _ in first })
            }
        ).containing(element.inner.map { $0.within(".*") })
    }
}

extension JSONProblem {
    static func notAnObject(_ place: JSONPlace, _ value: JSONValue) -> Self {
        JSONProblem(place, value.found, remedy: "Write members in braces.")
    }

    package static func twice(_ place: JSONPlace) -> Self {
        JSONProblem(place, "It is already in the list.", remedy: "Remove one of the two.")
    }
}

extension JSONValue {
    /// The value found in place of another, one sentence. Shows no text: it may be a secret in the wrong place.
    fileprivate var found: String {
        switch self {
        case .null, .flag: "This is \(canonicalText)."
        case .number: "This is the number \(canonicalText)."
        case .text(let text) where text.isEmpty: "This text is empty."
        case .text(let text): "This text of \(text.count.counted("character")) does not fit."
        case .array: "This is a list."
        case .object: "This is an object."
        }
    }
}
