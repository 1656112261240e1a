import LatchkeyCore
import Testing

/// Input that ends a process in Foundation's `XMLParser` on Linux.
@Suite(.timeLimit(.minutes(1))) struct XMLTextTests {
    @Test(arguments: [
        ("", false), ("<a/>", false), (#"<?xml version="1.0"?><a/>"#, false), ("<a>?></a>", false),
        ("<?p?><a/>", true), ("<a><?p?></a>", true), (#"<?xml version="1.0"?><?p?><a/>"#, true), ("<?xml?><a/>", true),
        (#" <?xml version="1.0"?><a/>"#, true), (#"<?xml version="1.0""#, true), ("<?xml-stylesheet?><a/>", true),
    ])
    func `a processing instruction is found, a declaration is not`(_ text: String, _ isThere: Bool) {
        #expect(text.hasProcessingInstruction == isThere)
    }
}
