import Testing

/// The tests that open pages, one after the other: a browser takes all processors, and a page among many others is late.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Chromium.isThere, "\(Chromium.whyNot)"))
enum InChromium {}

/// The tests that open the operators' console, one after the other, parallel to those of other pages.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Chromium.isThere, "\(Chromium.whyNot)"))
enum ConsoleInChromium {}
