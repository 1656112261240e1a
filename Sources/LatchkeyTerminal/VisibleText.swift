extension StringProtocol {
    /// A text from outside as a terminal may show it: on one line, each control character, line break, and mark that turns or hides
    /// letters as U+FFFD.
    ///
    /// Whatever a playlist, a server or a file brings along goes through here before it is printed, so that it can neither steer the
    /// terminal nor pass for a line of the tool's own.
    package var visible: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isVisible ? $0 : "\u{fffd}" }))
    }

    /// The same for a text of several lines, whose line ends are the tool's own.
    package var visibleLines: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isVisible || $0 == "\n" ? $0 : "\u{fffd}" }))
    }
}

extension Unicode.Scalar {
    /// Whether a terminal shows it as what it is.
    ///
    /// The joiners of scripts and emoji are visible. Other format characters change the direction of writing or show nothing.
    package var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        case .format: self == "\u{200c}" || self == "\u{200d}"
        default: true
        }
    }

    /// As an escape of JSON.
    package var jsonEscape: String {
        UTF16.encode(self)?.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined() ?? "\\ufffd"
    }
}
