import LatchkeyHLS
import Testing

@Suite struct URIReferenceTests {
    private func resolve(_ reference: String, _ base: String?) throws -> String {
        try PlaylistText.media([], uri: base).resolve(reference)
    }

    /// The examples of RFC 3986 §5.4, without those whose reference has a scheme.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("g:h", "g:h"), ("http:g", "http:g"),
    ])
    func `references resolve as in RFC 3986`(_ reference: String, _ resolved: String) throws {
        #expect(try resolve(reference, "http://a/b/c/d;p?q") == resolved)
    }

    @Test(arguments: [
        "skd://ID:0123", "skd://a b", "SKD://Clé/%2F/../x", "skd:x/../y", "data:text/plain;base64,AA==",
        "https://Host/a/../b",
    ])
    func `an absolute URI never changes`(_ uri: String) throws {
        #expect(try resolve(uri, "https://cdn.example.com/p.m3u8") == uri)
    }

    @Test(arguments: [
        ("s.ts", "https://cdn.example.com", "https://cdn.example.com/s.ts"),
        ("s a|é.ts", "https://h/p/x", "https://h/p/s a|é.ts"),
        ("s.ts", "file:///media/x/p.m3u8", "file:///media/x/s.ts"),
        ("../s.ts", "dir/sub/p.m3u8", "dir/s.ts"), ("s.ts", "p.m3u8", "s.ts"),
        ("s.ts", "https://h/p.m3u8?u=/a/b", "https://h/s.ts"), ("1:2.ts", "https://h/a/p", "https://h/a/1:2.ts"),
        ("a//b/../c", "https://h/x/p", "https://h/x/a//c"),
    ])
    func `odd references resolve without being rewritten`(_ reference: String, _ base: String, _ resolved: String)
        throws
    {
        #expect(try resolve(reference, base) == resolved)
    }

    @Test func `without a base a reference is unchanged`() throws {
        #expect(try resolve("../s.ts", nil) == "../s.ts")
    }
}
