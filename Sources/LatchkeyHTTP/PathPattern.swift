/// A path with names in place of some of its segments, such as `/v2/license/{content}`.
///
/// - `{name}` takes one segment that is not empty. Text may stand before and behind it: `{owner}.cer`. A name that occurs twice takes the
///   same text both times.
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
    /// - Returns: what the names stand for; `nil` for another path.
    public func match(_ path: String) -> PathParameters? { match(path.split(separator: "/")[...]) }

    /// - Parameter path: the segments of a path that are not empty.
    func match(_ path: ArraySlice<Substring>) -> PathParameters? {
        var left = path
        var parameters = PathParameters()
        for segment in segments {
            if case .rest(let name) = segment { return parameters.setting(name, left.joined(separator: "/")) }
            guard let text = left.popFirst(), let matched = Self.match(segment, text, parameters) else { return nil }
            parameters = matched
        }
        return left.isEmpty ? parameters : nil
    }

    private static func match(_ segment: Segment, _ text: Substring, _ parameters: PathParameters) -> PathParameters? {
        switch segment {
        case .literal(let literal):
            return text == literal ? parameters : nil
        case .name(let name, let prefix, let suffix):
            guard text.count > prefix.count + suffix.count, text.hasPrefix(prefix), text.hasSuffix(suffix) else {
                return nil
            }
            return parameters.setting(name, String(text.dropFirst(prefix.count).dropLast(suffix.count)))
        case .rest:
            return nil
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

/// What the names of a path pattern stand for in a path.
public struct PathParameters: Sendable, Hashable {
    private var values: [String: String] = [:]

    /// The text that a name stands for; empty for a name that the pattern does not have.
    public subscript(_ name: String) -> String { values[name] ?? "" }

    /// - Returns: `nil` if the name stands for another text already.
    func setting(_ name: String, _ value: String) -> PathParameters? {
        guard values[name] ?? value == value else { return nil }
        var parameters = self
        parameters.values[name] = value
        return parameters
    }
}
