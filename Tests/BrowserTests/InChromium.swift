import Testing

/// The tests that open pages, one after the other: a browser takes all processors, and a page beside others is late.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Chromium.isThere, "\(Chromium.whyNot)"))
enum InChromium {}
