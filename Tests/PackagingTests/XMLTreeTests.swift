import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyPackaging

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite(.timeLimit(.minutes(5))) struct XMLTreeTests {
    private static let cpix = XMLTree.Vocabulary(namespace: "urn:c", prefix: "cpix")
    private static let pskc = XMLTree.Vocabulary(namespace: "urn:p", prefix: "pskc")

    private func tree(_ text: String) throws -> XMLTree { try XMLTree(Data(text.utf8)) }

    private func written(_ tree: XMLTree) -> String { String(decoding: tree.data, as: UTF8.self) }

    private func failure(_ data: Data) -> XMLTree.Fault? {
        do throws(PackagingRefusal) {
            _ = try XMLTree(data)
            return nil
        } catch { return XMLTree.Fault(rawValue: error.code) }
    }

    @Test(arguments: [
        "<r/>", "<r></r>", "<r z=\"1\" a=\"2\" m=\"3\"/>", "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<r/>",
        "<a:r xmlns:a=\"urn:a\" xmlns=\"urn:d\" a:y=\"1\" x=\"2\"><c>t&amp;x &lt;&gt;</c>\n  <!-- hi --><?p d?><e/></a:r>",
        "<r a=\"&lt;&quot;&amp;&#10;'>\">é😀</r>", "<r><![CDATA[<z>&]]>tail</r>", "<!--a-->\n<?p?>\n<r/>\n<!--b-->",
        "<r>a&#13;b</r>", "<r xml:lang=\"de\"/>", "<d:r xmlns:d=\"u1\"><d:r xmlns:d=\"u2\"/></d:r>",
    ])
    func `a tree is written as it was read`(_ text: String) throws {
        #expect(written(try tree(text)) == text)
    }

    @Test func `a byte order mark and single quotes are accepted`() throws {
        let tree = try XMLTree(Data([0xef, 0xbb, 0xbf]) + Data("<r a='x\"y'/>".utf8))
        #expect(written(tree) == "<r a=\"x&quot;y\"/>")
    }

    @Test func `elements are found by namespace with any prefix`() throws {
        let root = try tree("<r xmlns='urn:c'><x:k xmlns:x='urn:p'/><k/><y:k xmlns:y='urn:p' n='2'/></r>").root
        #expect(root.elements("k", in: Self.pskc).count == 2)
        #expect(root.elements("k", in: Self.cpix).count == 1)
        #expect(root.elements("k", in: Self.pskc).last?["n"] == "2")
    }

    @Test func `a prefix has its nearest declaration's meaning`() throws {
        let root = try tree("<d:r xmlns:d='urn:c'><d:k xmlns:d='urn:p'><d:k/></d:k><d:k/></d:r>").root
        #expect(root.elements.map(\.name.namespace) == ["urn:p", "urn:c"])
        #expect(root.elements.first?.elements.map(\.name.namespace) == ["urn:p"])
    }

    @Test func `new elements take the existing prefix, or declare the examples' one`() throws {
        let declared = try tree("<cpix:r xmlns:cpix='urn:c' xmlns:pskc='urn:p'/>")
        declared.root.add("k", in: Self.cpix).add("v", in: Self.pskc).text = "1"
        #expect(written(declared).hasSuffix("><cpix:k><pskc:v>1</pskc:v></cpix:k></cpix:r>"))
        let plain = try tree("<r xmlns='urn:c' xmlns:pksc='urn:p'/>")
        plain.root.add("k", in: Self.cpix).add("v", in: Self.pskc)
        #expect(written(plain).hasSuffix("><k><pskc:v xmlns:pskc=\"urn:p\"/></k></r>"))
        let taken = try tree("<cpix:r xmlns:cpix='urn:c' xmlns:pskc='urn:other'/>")
        taken.root.add("v", in: Self.pskc)
        #expect(written(taken).hasSuffix("><pskc:v xmlns:pskc=\"urn:p\"/></cpix:r>"))
    }

    @Test func `set attributes keep their places, and set text replaces the content`() throws {
        let tree = try tree("<r b='1' a='2'><x/>old<!--c--></r>")
        tree.root["b"] = "9"
        tree.root["c"] = "3"
        tree.root["a"] = nil
        tree.root.text = "new"
        #expect(written(tree) == "<r b=\"9\" c=\"3\">new</r>")
    }

    @Test func `an element is inserted and removed`() throws {
        let tree = try tree("<cpix:r xmlns:cpix='urn:c'><cpix:a/> <cpix:b/></cpix:r>")
        let b = try #require(tree.root.first("b", in: Self.cpix))
        tree.root.add("n", in: Self.cpix, before: b)
        tree.root.remove(try #require(tree.root.first("a", in: Self.cpix)))
        #expect(written(tree).hasSuffix("> <cpix:n/><cpix:b/></cpix:r>"))
    }

    @Test(arguments: [
        "<!DOCTYPE r><r/>", "<!DOCTYPE r [<!ENTITY e 'boo'>]><r>&e;</r>", "<r/><!DOCTYPE r>",
        "<!DOCTYPE r SYSTEM 'file:///etc/passwd'><r/>", "<!-- --><!doctype r><r/>", "<r><!ELEMENT r ANY></r>",
        "<!DOCTYPE r [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]><r>&c;</r>",
        "<!DOCTYPE r [<!ENTITY x SYSTEM 'http://127.0.0.1:1/'>]><r>&x;</r>", "<?xml version='1.0'?><!DOCTYPE r><r/>",
        "<!DOCTYPE r [<!ENTITY % p SYSTEM 'file:///dev/random'> %p;]><r/>",
    ])
    func `document types and declarations are refused`(_ text: String) {
        #expect(failure(Data(text.utf8)) == .documentType)
    }

    @Test(arguments: [
        (String.Encoding.utf16, XMLTree.Fault.documentType), (.utf16LittleEndian, .documentType),
        (.utf16BigEndian, .documentType), (.utf32, .encoding), (.utf32LittleEndian, .encoding),
    ])
    func `a document type is refused in every encoding, and UTF-32 as such`(
        _ encoding: String.Encoding, _ kind: XMLTree.Fault
    ) throws {
        let bomb = "<!DOCTYPE r [<!ENTITY e 'boo'>]><r>&e;</r>"
        #expect(failure(try #require(bomb.data(using: encoding))) == kind)
        let plain = failure(try #require("<r/>".data(using: encoding)))
        #expect(plain == (kind == .encoding ? .encoding : nil))
    }

    @Test(arguments: [
        (String.Encoding.utf16, "utf-16"), (.utf16LittleEndian, "UTF-16"), (.utf16BigEndian, "utf-16"),
        (.utf16LittleEndian, "UTF-16LE"), (.isoLatin1, "ISO-8859-1"), (.isoLatin1, "iso-8859-1"),
        // A text that .NET sends as UTF-8.
        (.utf8, "utf-16"),
    ])
    func `a document in UTF-16 or ISO-8859-1 is read, and written as UTF-8`(
        _ encoding: String.Encoding, _ name: String
    ) throws {
        let text = "<?xml version=\"1.0\" encoding=\"\(name)\"?>\n<r a=\"ü\">Düne</r>"
        let tree = try XMLTree(try #require(text.data(using: encoding)))
        #expect(tree.root["a"] == "ü" && tree.root.text == "Düne")
        #expect(
            String(decoding: tree.data, as: UTF8.self)
                == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<r a=\"ü\">Düne</r>")
    }

    @Test(arguments: [[0xff, 0xfe, 0x3c], [0xff, 0xfe, 0x00, 0xd8, 0x3c, 0x00], [0xfe, 0xff], [0x3c, 0x00, 0x72]])
    func `broken UTF-16 is refused`(_ bytes: [UInt8]) {
        #expect(failure(Data(bytes)) != nil)
    }

    @Test(arguments: ["UTF-7", "windows-1252", "EBCDIC-CP-US", "UCS-4", "shift_jis"])
    func `a document that declares another encoding is refused`(_ name: String) {
        #expect(failure(Data("<?xml version='1.0' encoding='\(name)'?><r/>".utf8)) == .encoding)
    }

    @Test(arguments: [
        [0x3c, 0x72, 0x3e, 0xff], [0x3c, 0x72, 0xc0, 0x80, 0x2f, 0x3e], [0x3c, 0x72, 0x00, 0x2f, 0x3e],
        [0xed, 0xa0, 0x80],
    ])
    func `bytes that are not UTF-8 are refused`(_ bytes: [UInt8]) {
        #expect(failure(Data(bytes)) == .encoding)
    }

    @Test(arguments: [
        "", " ", "<", "<r", "<r>", "<r/", "</r>", "<r></s>", "<r/><r/>", "x<r/>", "<r/>x", "<r>&foo;</r>",
        "<r a='1' a='2'/>",
        "<r a=1/>", "<r a/>", "<r a='1'b='2'/>", "<r a='<'/>", "<q:r/>", "<r q:a='1'/>", "<r xmlns:q=''/>", "<:r/>",
        "<r:/>",
        "<a:b:c xmlns:a='u'/>", "<r>]]></r>", "<r><!-- -- --></r>", "<r>\u{1}</r>", "<r>&#1;</r>", "<r>&#xD800;</r>",
        "<r>&</r>",
        "<r xmlns:a='u' xmlns:b='u' a:x='1' b:x='2'/>", "<xmlns:r/>", "<r><![CDATA[</r>", "<r><!--</r>", "<?xml?><r/>",
        "<?xml version='2.0'?><r/>", " <?xml version='1.0'?><r/>", "<1r/>", "<r><?xml version='1.0'?></r>",
        "<r>\u{ffff}</r>", "<r a='<\u{338}'/>", "<r>]]>\u{338}</r>",
    ])
    func `malformed text is refused`(_ text: String) {
        #expect(failure(Data(text.utf8)) == .malformed)
    }

    @Test func `a document cut anywhere is refused`() throws {
        let text = "<a:r xmlns:a='urn:a' x='1'><c>t&amp;<![CDATA[z]]></c><!--n--></a:r>"
        let taken = (0..<text.utf8.count).filter { failure(Data(text.utf8.prefix($0))) == nil }
        #expect(taken.isEmpty)
    }

    @Test func `32 levels are read and 33 are not`() throws {
        let nested = { (count: Int) in
            Data((String(repeating: "<r>", count: count) + String(repeating: "</r>", count: count)).utf8)
        }
        #expect(failure(nested(32)) == nil)
        #expect(failure(nested(33)) == .tooDeep)
        #expect(failure(nested(20_000)) == .tooDeep)
        #expect(failure(Data(String(repeating: "<r>", count: 80_000).utf8)) == .tooDeep)
    }

    @Test func `20,000 elements are read and more are not`() throws {
        let flat = { (count: Int) in Data(("<r>" + String(repeating: "<e/>", count: count - 1) + "</r>").utf8) }
        #expect(failure(flat(20_000)) == nil)
        #expect(failure(flat(20_001)) == .tooManyElements)
    }

    @Test func `256 KiB are read and more are not`() throws {
        let long = { (count: Int) in Data(("<r>" + String(repeating: "x", count: count - 7) + "</r>").utf8) }
        #expect(failure(long(262_144)) == nil)
        #expect(failure(long(262_145)) == .tooManyBytes)
    }

    @Test func `long attributes, long names and many attributes are refused`() throws {
        let long = String(repeating: "x", count: 4_096)
        #expect(failure(Data("<r a='\(long)'/>".utf8)) == nil)
        #expect(failure(Data("<r a='\(long)x'/>".utf8)) == .attributeTooLong)
        #expect(failure(Data("<\(long)/>".utf8)) == .attributeTooLong)
        let many = { (count: Int) in (0..<count).map { "a\($0)='1'" }.joined(separator: " ") }
        #expect(failure(Data("<r \(many(64))/>".utf8)) == nil)
        #expect(failure(Data("<r \(many(65))/>".utf8)) == .attributeTooLong)
    }

    @Test func `an element of thousands of attributes is refused before they are compared`() {
        let many = (0..<20_000).map { "a\($0)=''" }.joined(separator: " ")
        #expect(failure(Data("<r \(many)/>".utf8)) == .attributeTooLong)
    }

    @Test(arguments: [
        "<r><!--<a \(String(repeating: "b=\"\" ", count: 70))><!DOCTYPE r>--></r>",
        "<r><![CDATA[<a \(String(repeating: "b=\"\" ", count: 70))><!DOCTYPE r>]]></r>",
        "<r><?p <a \(String(repeating: "b=\"\" ", count: 70))><!DOCTYPE r>?></r>",
        "<r a=\"'>\">\(String(repeating: "b=\"\" ", count: 70))</r>",
    ])
    func `markup in comments, sections, instructions and values is not parsed`(_ text: String)
        throws
    {
        #expect(written(try tree(text)) == text)
    }

    @Test func `text of any length is one text, and a reference's replacement is read once`() throws {
        let long = String(repeating: "aä😀\r\n]&amp;&#38;lt;]", count: 500)
        let root = try tree("<r b='&#38;lt;&amp;amp;\r\n\t'>\(long)<![CDATA[]]></r>").root
        #expect(root["b"] == "&lt;&amp;  ")
        #expect(root.children.count == 2)
        #expect(root.text == String(repeating: "aä😀\n]&&lt;]", count: 500))
    }

    @Test(arguments: 0..<200)
    func `damaged documents are refused or come back as read`(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var bytes = Array(
            "<?xml version='1.0'?><a:r xmlns:a='urn:a' x='1'><c d='&lt;'>t&amp;x<![CDATA[z]]></c><!--n--></a:r>".utf8)
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            guard let index = bytes.indices.randomElement(using: &generator) else { break }
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: index)
            default: bytes.insert(contentsOf: bytes.shuffled(using: &generator).prefix(3), at: index)
            }
        }
        guard let tree = try? XMLTree(Data(bytes)) else { return }
        #expect(try XMLTree(tree.data).data == tree.data)
        // An independent parser accepts it, too. It knows no namespaces here, and instructions without data end it.
        guard !String(decoding: bytes, as: UTF8.self).dropFirst(5).contains("<?") else { return }
        #expect(XMLParser(data: Data(bytes)).parse())
    }
}
