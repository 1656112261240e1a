/// Reads the bytes of a document into a tree: XML 1.0 with namespaces, without any declaration.
///
/// Foundation's `XMLParser` is not used here. On Linux (Swift 6.3) it ends the process at a processing instruction without data, drops
/// internal entities without a word, says yes to cut documents and to text behind the root, and gives attributes without their order.
///
/// Source: `Documentation/LicenseServer.md` §3.
struct XMLTreeReader {
    private var cursor: XMLCursor
    private let limits: XMLLimits
    private var count = 0
    private var open: [XMLTree.Element] = []
    private(set) var root: XMLTree.Element?
    private(set) var prolog: [XMLTree.Node] = []
    private(set) var epilog: [XMLTree.Node] = []

    /// - Parameter bytes: UTF-8 without a mark and without an XML declaration.
    init(_ bytes: [UInt8], limits: XMLLimits) {
        cursor = XMLCursor(bytes)
        self.limits = limits
    }

    /// Reads to the end.
    /// - Returns: the root.
    mutating func read() throws(XMLTreeError) -> XMLTree.Element {
        while !cursor.isAtEnd {
            if cursor.next == UInt8(ascii: "<") { try markup() } else { try text() }
        }
        guard open.isEmpty, let root else { throw cursor.malformed }
        return root
    }

    private mutating func text() throws(XMLTreeError) {
        let raw = cursor.take { $0 != UInt8(ascii: "<") }
        guard !open.isEmpty else {
            guard raw.allSatisfy(XMLCursor.isBlank) else { throw cursor.malformed }
            return
        }
        guard let text = XMLText.decoded(raw, as: .text) else { throw cursor.malformed }
        append(.text(text))
    }

    private mutating func markup() throws(XMLTreeError) {
        if cursor.skip("<!--") {
            let text = try verbatim(upTo: "--")
            guard cursor.skip(">") else { throw cursor.malformed }
            append(.comment(text))
        } else if cursor.skip("<![CDATA[") {
            guard !open.isEmpty else { throw cursor.malformed }
            append(.characterData(try verbatim(upTo: "]]>")))
        } else if cursor.skip("<!") {
            throw XMLTreeError(.documentType, "The document has a declaration at byte \(cursor.position - 2).")
        } else if cursor.skip("<?") {
            try instruction()
        } else if cursor.skip("</") {
            try endTag()
        } else if cursor.skip("<") {
            try startTag()
        }
    }

    private mutating func instruction() throws(XMLTreeError) {
        let target = try name()
        guard target.lowercased() != "xml", !target.utf8.contains(UInt8(ascii: ":")) else { throw cursor.malformed }
        let hasBlanks = cursor.skipBlanks()
        let data = try verbatim(upTo: "?>")
        guard hasBlanks || data.isEmpty else { throw cursor.malformed }
        append(.instruction(target: target, data: data))
    }

    private mutating func endTag() throws(XMLTreeError) {
        let name = try name()
        cursor.skipBlanks()
        guard cursor.skip(">"), let element = open.popLast(), element.name.written.equalsByteForByte(name) else {
            throw cursor.malformed
        }
    }

    private mutating func startTag() throws(XMLTreeError) {
        guard !(open.isEmpty && root != nil) else { throw cursor.malformed }
        let written = try name()
        var attributes: [(name: String, value: String)] = []
        var isShort = false
        while true {
            let hadBlanks = cursor.skipBlanks()
            isShort = cursor.skip("/>")
            if isShort || cursor.skip(">") { break }
            guard hadBlanks else { throw cursor.malformed }
            guard attributes.count < limits.attributes else {
                throw XMLTreeError(.attributeTooLong, "An element has more than \(limits.attributes) attributes.")
            }
            attributes.append((try name(), try value()))
        }
        let outer = open.last?.scope ?? XMLNames.outermost
        guard let element = XMLNames.element(written, attributes, in: outer) else {
            throw XMLTreeError(
                .malformed,
                "The element before byte \(cursor.position) has an undeclared prefix or one attribute twice.")
        }
        element.isShort = isShort
        try add(element)
    }

    private mutating func add(_ element: XMLTree.Element) throws(XMLTreeError) {
        count += 1
        guard count <= limits.elements else {
            throw XMLTreeError(.tooManyElements, "The document has more than \(limits.elements) elements.")
        }
        guard open.count < limits.depth else {
            throw XMLTreeError(.tooDeep, "The document has more than \(limits.depth) levels.")
        }
        if root == nil { root = element } else { open.last?.children.append(.element(element)) }
        if !element.isShort { open.append(element) }
    }

    private mutating func value() throws(XMLTreeError) -> String {
        cursor.skipBlanks()
        guard cursor.skip("=") else { throw cursor.malformed }
        cursor.skipBlanks()
        guard let quote = cursor.next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw cursor.malformed
        }
        cursor.advance()
        let raw = cursor.take { $0 != quote }
        guard raw.count <= limits.valueBytes else {
            throw XMLTreeError(.attributeTooLong, "An attribute is longer than \(limits.valueBytes) bytes.")
        }
        guard cursor.next == quote, let value = XMLText.decoded(raw, as: .attribute) else { throw cursor.malformed }
        cursor.advance()
        return value
    }

    private mutating func name() throws(XMLTreeError) -> String {
        let raw = cursor.take { !XMLCursor.isBlank($0) && !XMLCursor.endsName($0) }
        guard raw.count <= limits.nameBytes else {
            throw XMLTreeError(.attributeTooLong, "A name is longer than \(limits.nameBytes) bytes.")
        }
        let name = String(decoding: raw, as: UTF8.self)
        guard XMLNames.isName(name) else { throw cursor.malformed }
        return name
    }

    private mutating func verbatim(upTo end: StaticString) throws(XMLTreeError) -> String {
        guard let raw = cursor.take(upTo: end), let text = XMLText.verbatim(raw) else { throw cursor.malformed }
        return text
    }

    private mutating func append(_ node: XMLTree.Node) {
        if let element = open.last {
            element.children.append(node)
        } else if root == nil {
            prolog.append(node)
        } else {
            epilog.append(node)
        }
    }
}
