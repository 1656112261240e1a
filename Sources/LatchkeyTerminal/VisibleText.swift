extension StringProtocol {
    /// A text from outside in a form that is safe for a terminal: on one line, with U+FFFD for each control character, line
    /// break, and mark that reverses or hides letters.
    ///
    /// All text from a playlist, a server or a file passes through here before it is printed, so that it can neither control
    /// the terminal nor imitate a line of the tool's own.
    package var visible: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isVisible ? $0 : "\u{fffd}" }))
    }

    /// The same for a text of several lines, whose line ends are the tool's own.
    package var visibleLines: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isVisible || $0 == "\n" ? $0 : "\u{fffd}" }))
    }
}

extension Unicode.Scalar {
    /// Whether a terminal shows it literally.
    ///
    /// The joiners of scripts and emoji are visible. Other format characters change the direction of writing or show nothing.
    package var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        case .format: self == "\u{200c}" || self == "\u{200d}"
        default: true
        }
    }

    /// Its JSON escape.
    package var jsonEscape: String {
        UTF16.encode(self)?.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined() ?? "\\ufffd"
    }
}
