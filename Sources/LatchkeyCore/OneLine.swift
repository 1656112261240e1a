extension String {
    /// The text as one line for a log or a terminal: control characters, line ends and marks that change the writing direction
    /// are replaced by their numbers, such as `\u{1b}`.
    package var onOneLine: String {
        guard unicodeScalars.contains(where: \.disturbsLine) else { return self }
        return unicodeScalars.reduce(into: "") { line, scalar in
            if scalar.disturbsLine {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var disturbsLine: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
