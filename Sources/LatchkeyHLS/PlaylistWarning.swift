/// An oddity in a playlist that did not prevent parsing.
public struct PlaylistWarning: Sendable, Hashable, CustomStringConvertible {
    /// The line of the oddity, counted from 1; `nil` if it concerns the whole playlist.
    public let line: Int?
    /// The oddity. Contains no value from the playlist.
    public let text: String

    init(_ text: String, line: Int? = nil) {
        self.text = text
        self.line = line
    }

    public var description: String { line.map { "line \($0): \(text)" } ?? text }
}

/// The warnings of one playlist, up to a limit.
struct WarningList {
    private(set) var all: [PlaylistWarning] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(_ text: String, line: Int? = nil) {
        if all.count < limit { all.append(PlaylistWarning(text, line: line)) }
    }
}
