extension StringProtocol {
    /// The text without blanks and line ends around it. Foundation's `trimmingCharacters` copies all of the text on Linux.
    package var withoutOuterSpace: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
