import Foundation

/// An object's JSON form: one table of its members, from which reading, writing, overlaying and narrowing follow.
package struct ObjectForm<Root: Sendable>: Sendable {
    /// The value of an object without members.
    let empty: Root
    package let members: [Member<Root>]
    /// Whether a member that is `null` counts as absent.
    let takesNull: Bool
    /// Finds values that are valid individually but impossible together.
    var check: @Sendable (Root, JSONPlace, inout [JSONProblem]) -> Void = { _, _, _ in }

    package init(
        empty: Root, members: [Member<Root>], takesNull: Bool = false,
        check: @escaping @Sendable (Root, JSONPlace, inout [JSONProblem]) -> Void = { _, _, _ in }
    ) {
        self.empty = empty
        self.members = members
        self.takesNull = takesNull
        self.check = check
    }

    /// Reads an object. Returns `nil` only if the value is not an object; check the problems for other errors.
    package func read(_ value: JSONValue, _ place: JSONPlace, _ problems: inout [JSONProblem]) -> Root? {
        guard case .object(var values) = value else {
            problems.append(.notAnObject(place, value))
            return nil
        }
        if takesNull { values = values.filter { $0.value != .null } }
        var root = empty
        for member in members { member.read(values, place, &root, &problems) }
        let known = Set(members.flatMap(\.names))
        for name in values.keys.sorted() where !known.contains(name) {
            problems.append(
                JSONProblem(
                    place.member(name), "There is no such member.",
                    remedy: "Correct its name to one of \(known.sorted().joined(separator: ", "))."))
        }
        check(root, place, &problems)
        return root
    }

    /// The object with its stated members.
    package func write(_ root: Root) -> JSONValue {
        .object(members.reduce(into: [:]) { written, member in written.merge(member.write(root)) { _, new in new } })
    }

    /// Replaces the first object's values with the second's stated ones, member by member.
    package func overlaid(_ first: Root, with second: Root) -> Root {
        var result = first
        for member in members { member.overlay(&result, second) }
        return result
    }

    /// Narrows the first to the values that the second states.
    package func narrow(_ root: inout Root, to other: Root, prefix: String, _ narrowing: inout Narrowing) {
        for member in members { member.narrow(&root, other, prefix, &narrowing) }
    }

    /// The members' names; members of inner objects have a dot.
    package var paths: [String] { members.flatMap(\.paths) }

    /// Every member at any depth, as a reference lists it.
    package var entries: [MemberEntry] { members.flatMap(\.entries) }

    /// The path of every member that has no members itself: `tenants.*.packagers[].name`.
    package var memberPaths: [String] { entries.filter { !$0.isObject }.map(\.path) }

    package var form: JSONForm<Root> {
        JSONForm(
            schema: schema, expected: members.isEmpty ? "an empty object" : "", read: { read($0, $1, &$2) },
            write: { write($0) }
        ).containing(entries.map { $0.within(".") })
    }

    /// Every member by name, type and limits.
    package var schema: JSONSchema {
        .object(
            members.reduce(into: [:]) { $0.merge($1.schemas) { first, _ in first } },
            required: members.filter(\.isRequired).flatMap(\.names))
    }

    /// Reads a whole JSON text.
    /// - Parameter code: the error's code.
    /// - Throws: all problems together; a text that is not JSON, or has a member twice, is one problem by line and column.
    package func decode(_ json: [UInt8], code: String) throws(JSONProblems) -> Root {
        let (root, problems) = try decodeWhatFits(json, code: code)
        guard problems.isEmpty else { throw JSONProblems(code: code, problems: problems) }
        return root
    }

    /// Reads the valid members of a whole JSON text; the others have their defaults.
    /// - Parameter code: the error's code.
    /// - Returns: the object and all problems.
    /// - Throws: a problem by line and column for a text that is not JSON, or has a member twice; one for a value that is not an object.
    package func decodeWhatFits(_ json: [UInt8], code: String) throws(JSONProblems) -> (
        root: Root, problems: [JSONProblem]
    ) {
        let value: JSONValue
        do {
            value = try JSONReader.value(of: json)
        } catch {
            throw JSONProblems(code: code, problems: [error.problem(in: json)])
        }
        var problems: [JSONProblem] = []
        guard let root = read(value, .root, &problems) else { throw JSONProblems(code: code, problems: problems) }
        return (root, problems)
    }
}

/// A member of an object's form, or several that belong together.
package struct Member<Root: Sendable>: Sendable {
    package let names: [String]
    let paths: [String]
    package let read: @Sendable ([String: JSONValue], JSONPlace, inout Root, inout [JSONProblem]) -> Void
    let write: @Sendable (Root) -> [String: JSONValue]
    var overlay: @Sendable (inout Root, Root) -> Void = { _, _ in }
    var narrow: @Sendable (inout Root, Root, String, inout Narrowing) -> Void = { _, _, _, _ in }
    /// The member, and then the members within it.
    package private(set) var entries: [MemberEntry]
    /// By name.
    package var schemas: [String: JSONSchema]
    fileprivate var isRequired: Bool { entries.first?.isRequired ?? false }

    package init(
        names: [String], paths: [String],
        read: @escaping @Sendable ([String: JSONValue], JSONPlace, inout Root, inout [JSONProblem]) -> Void,
        write: @escaping @Sendable (Root) -> [String: JSONValue],
        overlay: @escaping @Sendable (inout Root, Root) -> Void = { _, _ in },
        narrow: @escaping @Sendable (inout Root, Root, String, inout Narrowing) -> Void = { _, _, _, _ in },
        entries: [MemberEntry]? = nil, schemas: [String: JSONSchema]? = nil
    ) {
        self.names = names
        self.paths = paths
        self.read = read
        self.write = write
        self.overlay = overlay
        self.narrow = narrow
        self.entries = entries ?? paths.map { MemberEntry($0) }
        self.schemas = schemas ?? Dictionary(names.map { ($0, JSONSchema()) }) { first, _ in first }
    }

    /// The member, whose value has a form.
    fileprivate func of<Value>(_ form: JSONForm<Value>, usual: JSONValue? = nil, isRequired: Bool = false) -> Self {
        let name = names.first ?? ""
        var (member, entry) = (self, MemberEntry(name))
        (entry.values, entry.isObject, entry.isRequired) = (form.expected, !form.inner.isEmpty, isRequired)
        entry.standard = usual.flatMap { $0 == .array([]) || $0 == .object([:]) ? nil : $0.text ?? $0.canonicalText }
        member.entries = [entry] + form.inner.map { $0.within(name) }
        member.schemas = [name: form.schema]
        return member
    }

    /// The member with a description, and with keywords for limits that the object's check enforces.
    package func explained(_ text: String, _ more: [String: JSONValue] = [:]) -> Self {
        var member = self
        member.schemas = schemas.mapValues { $0.with(more).explained(text) }
        if !member.entries.isEmpty { member.entries[0].text = text }
        return member
    }
}

extension Member {
    package typealias Member<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// A member that may be absent.
    /// - Parameter rule: how another value narrows this one; `nil` if the values have no order.
    package static func optional<Value: Sendable & Equatable>(
        _ name: String, _ place: Member<Value?>, _ form: JSONForm<Value>, narrowedBy rule: NarrowingRule<Value>? = nil
    ) -> Self {
        composite([name], name, place, rule) { values, at, problems in
            values[name].flatMap { form.read($0, at.member(name), &problems) }
        } write: {
            [name: form.write($0)]
        }.of(form)
    }

    /// Several members that together state one value.
    package static func composite<Value: Sendable & Equatable>(
        _ names: [String], _ path: String, _ place: Member<Value?>, _ rule: NarrowingRule<Value>?,
        read: @escaping @Sendable ([String: JSONValue], JSONPlace, inout [JSONProblem]) -> Value?,
        write: @escaping @Sendable (Value) -> [String: JSONValue]
    ) -> Self {
        Self(
            names: names, paths: [path],
            read: { values, at, root, problems in root[keyPath: place] = read(values, at, &problems) },
            write: { $0[keyPath: place].map(write) ?? [:] },
            overlay: { root, other in root[keyPath: place] = other[keyPath: place] ?? root[keyPath: place] },
            narrow: { root, other, prefix, narrowing in
                guard let wanted = other[keyPath: place] else { return }
                root[keyPath: place] = narrowing.narrowed(root[keyPath: place], to: wanted, prefix + path, rule)
            })
    }

    /// A required member.
    package static func required<Value: Sendable>(_ name: String, _ place: Member<Value>, _ form: JSONForm<Value>)
        -> Self
    {
        Self(
            names: [name], paths: [name],
            read: { values, at, root, problems in
                guard let value = values[name] else {
                    problems.append(JSONProblem(at.member(name), "The member is missing.", remedy: "Add it."))
                    return
                }
                if let read = form.read(value, at.member(name), &problems) { root[keyPath: place] = read }
            }, write: { [name: form.write($0[keyPath: place])] }
        ).of(form, isRequired: true)
    }

    /// A member that is written unless it has its default.
    package static func defaulting<Value: Sendable & Equatable>(
        _ name: String, _ place: Member<Value>, _ form: JSONForm<Value>, to usual: Value
    ) -> Self {
        Self(
            names: [name], paths: [name],
            read: { values, at, root, problems in
                guard let value = values[name], let read = form.read(value, at.member(name), &problems) else { return }
                root[keyPath: place] = read
            }, write: { $0[keyPath: place] == usual ? [:] : [name: form.write($0[keyPath: place])] }
        ).of(form, usual: form.write(usual))
    }

    /// A nested object, whose members overlay and narrow one by one. Written unless it states nothing.
    package static func section<Section: Sendable>(
        _ name: String, _ place: Member<Section>, _ form: ObjectForm<Section>
    )
        -> Self
    {
        Self(
            names: [name], paths: form.paths.map { "\(name).\($0)" },
            read: { values, at, root, problems in
                guard let value = values[name], let read = form.read(value, at.member(name), &problems) else { return }
                root[keyPath: place] = read
            },
            write: { root in
                let written = form.write(root[keyPath: place])
                return written == .object([:]) ? [:] : [name: written]
            },
            overlay: { $0[keyPath: place] = form.overlaid($0[keyPath: place], with: $1[keyPath: place]) },
            narrow: { root, other, prefix, narrowing in
                form.narrow(&root[keyPath: place], to: other[keyPath: place], prefix: "\(prefix)\(name).", &narrowing)
            }
        ).of(form.form)
    }
}

extension JSONError {
    /// The error by line and column, counted from 1.
    fileprivate func problem(in json: [UInt8]) -> JSONProblem {
        switch self {
        case .unexpected(let byte):
            JSONProblem(.root, "This is not JSON from \(Self.place(byte, json)) on.", remedy: "Correct the text there.")
        case .twice(let byte):
            JSONProblem(
                .root, "A member is repeated in one object, again at \(Self.place(byte, json)).",
                remedy: "Remove one of the two.")
        case .tooDeep(let limit, let byte):
            JSONProblem(
                .root, "The JSON has more than \(limit) levels at \(Self.place(byte, json)).",
                remedy: "Make it smaller.")
        case .tooMany: JSONProblem(.root, "The JSON \(reason)", remedy: "Make it smaller.")
        }
    }

    private static func place(_ byte: Int, _ json: [UInt8]) -> String {
        let before = json.prefix(byte)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
        return "line \(line), column \(column)"
    }
}
