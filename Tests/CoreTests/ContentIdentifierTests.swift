import Foundation
import LatchkeyCore
import Testing

@Suite struct ContentIdentifierTests {
    @Test func `text is taken as UTF-8`() {
        #expect(ContentIdentifier("é").bytes == Data([0xc3, 0xa9]))
        #expect(("movie" as ContentIdentifier).text == "movie")
    }

    @Test func `non-text bytes show as hexadecimal digits`() {
        let identifier = ContentIdentifier(bytes: Data([0xff, 0x00]))
        #expect(identifier.text == nil)
        #expect("\(identifier)" == "ff00")
    }
}
