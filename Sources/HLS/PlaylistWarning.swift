/// Something odd in a playlist that did not keep it from being read.
public struct PlaylistWarning: Sendable, Hashable, CustomStringConvertible {
    /// The line it is about, counted from 1; nil where it is about the whole playlist.
    public let line: Int?
    /// What is odd. Holds no value of the playlist.
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
