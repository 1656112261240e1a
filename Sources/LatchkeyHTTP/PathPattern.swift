/// A path with names in place of some of its segments, such as `/v2/license/{content}`.
///
/// - `{name}` takes one segment that is not empty. Text may precede and follow it: `{owner}.cer`. A name that occurs twice takes the same
///   text both times.
/// - `{name...}` at the end takes all segments that are left, also none.
/// - Empty segments do not count: `/a//b/` is `/a/b`.
public struct PathPattern: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The pattern as written.
    public let text: String
    private let segments: [Segment]

    private enum Segment: Sendable, Hashable {
        case literal(String)
        case name(String, prefix: String, suffix: String)
        case rest(String)
    }

    /// - Parameter text: the pattern, which begins with a slash.
    public init(_ text: String) {
        self.text = text
        segments = text.split(separator: "/").map(Self.segment)
    }

    public init(stringLiteral value: String) { self.init(value) }

    /// Compares a path with the pattern.
    /// - Parameter path: a path without percent escapes.
    /// - Returns: the values of the names; `nil` for another path.
    public func match(_ path: String) -> PathParameters? { match(Self.segments(of: path)) }

    /// The segments of a path that are not empty. As bytes, because characters cost ten times as much.
    static func segments(of path: String) -> ArraySlice<Substring.UTF8View> {
        path.utf8.split(separator: UInt8(ascii: "/"))[...]
    }

    /// - Parameter path: the segments of a path that are not empty.
    func match(_ path: ArraySlice<Substring.UTF8View>) -> PathParameters? {
        var left = path
        var parameters = PathParameters()
        for segment in segments {
            if case .rest(let name) = segment {
                return parameters.set(name, left.map(Substring.init).joined(separator: "/")) ? parameters : nil
            }
            guard let text = left.popFirst(), Self.match(segment, text, &parameters) else { return nil }
        }
        return left.isEmpty ? parameters : nil
    }

    private static func match(
        _ segment: Segment, _ text: Substring.UTF8View, _ parameters: inout PathParameters
    ) -> Bool {
        switch segment {
        case .literal(let literal):
            return text.elementsEqual(literal.utf8)
        case .name(let name, let prefix, let suffix):
            let (before, behind) = (prefix.utf8.count, suffix.utf8.count)
            guard text.count > before + behind, text.starts(with: prefix.utf8),
                text.suffix(behind).elementsEqual(suffix.utf8)
            else { return false }
            return parameters.set(name, String(Substring(text.dropFirst(before).dropLast(behind))))
        case .rest:
            return false
        }
    }

    private static func segment(_ text: Substring) -> Segment {
        guard let open = text.firstIndex(of: "{"), let close = text[open...].firstIndex(of: "}") else {
            return .literal(String(text))
        }
        let name = text[open..<close].dropFirst()
        if name.hasSuffix("...") { return .rest(String(name.dropLast(3))) }
        return .name(String(name), prefix: String(text[..<open]), suffix: String(text[close...].dropFirst()))
    }
}

/// The values of a path pattern's names in a path.
public struct PathParameters: Sendable, Hashable {
    private var values: [String: String] = [:]

    /// The value of a name; empty for a name that the pattern does not have.
    public subscript(_ name: String) -> String { values[name] ?? "" }

    /// - Returns: `false` if the name already has another value.
    mutating func set(_ name: String, _ value: String) -> Bool {
        guard values[name] ?? value == value else { return false }
        values[name] = value
        return true
    }
}
