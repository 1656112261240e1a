import CLibXML2

/// Reads the bytes of a document into a tree, with libxml2: XML 1.0 with namespaces, without any declaration.
///
/// libxml2 calls back for each piece in order (SAX), and builds no tree, which would lose the order of attributes and which elements are
/// short. Declarations and too many attributes do not get there: `XMLScan` refuses them before. Namespaces are `XMLNames`'s, because
/// libxml2 passes declarations separately from the other attributes.
///
/// Foundation's `XMLParser` is not used here. On Linux (Swift 6.3) it crashes the process at a processing instruction without data,
/// silently drops internal entities, accepts truncated documents and text after the root, and loses the order of attributes.
///
/// Source: `Documentation/LicenseServer.md` §3.
final class XMLTreeReader {
    private let limits: XMLLimits
    private let parser: xmlParserCtxtPtr
    private var failure: PackagingRefusal?
    private var count = 0
    private var open: [XMLTree.Element] = []
    /// Text since the last piece: libxml2 passes it in parts.
    private var text: [UInt8] = []
    private var root: XMLTree.Element?
    private(set) var prolog: [XMLTree.Node] = []
    private(set) var epilog: [XMLTree.Node] = []

    // Before the first parser, on one thread.
    private static let isReady: Void = xmlInitParser()

    init(_ limits: XMLLimits) throws(PackagingRefusal) {
        self.limits = limits
        _ = Self.isReady
        guard let parser = xmlNewParserCtxt() else {
            throw PackagingRefusal(.tooManyBytes, "Memory for the document is exhausted.")
        }
        self.parser = parser
    }

    deinit { xmlFreeParserCtxt(parser) }

    /// Reads to the end.
    /// - Parameter bytes: UTF-8 without a mark and without an XML declaration.
    /// - Returns: the root.
    func read(_ bytes: [UInt8]) throws(PackagingRefusal) -> XMLTree.Element {
        try XMLScan.check(bytes, limits)
        parser.pointee.sax.pointee = .reader
        let context = Unmanaged.passUnretained(self).toOpaque()
        parser.pointee.userData = context
        // For this thread: SAX 1 has no other way to report errors that Swift can call.
        xmlSetStructuredErrorFunc(context) { context, error in
            guard let error, error.pointee.level.rawValue >= XML_ERR_ERROR.rawValue else { return }
            XMLTreeReader.of(context)?.stop(PackagingRefusal.malformed)
        }
        defer { xmlSetStructuredErrorFunc(nil, nil) }
        // A mark or an XML declaration would be none behind a line end.
        let line = [UInt8(ascii: "\n")] + bytes
        line.withUnsafeBytes {
            latchkey_xml_read(parser, $0.bindMemory(to: CChar.self).baseAddress, CInt(clamping: line.count))
        }
        if let failure { throw failure }
        guard parser.pointee.wellFormed == 1, open.isEmpty, let root else { throw .malformed(at: bytes.count) }
        return root
    }
}

// MARK: - What libxml2 gives

extension XMLTreeReader {
    fileprivate func start(_ name: String, _ pairs: [(name: String, value: String)]) throws(PackagingRefusal) {
        for (name, value) in pairs + [(name, "")] {
            guard name.utf8.count <= limits.nameBytes else {
                throw PackagingRefusal(.attributeTooLong, "A name is longer than \(limits.nameBytes) bytes.")
            }
            guard value.utf8.count <= limits.valueBytes else {
                throw PackagingRefusal(.attributeTooLong, "An attribute is longer than \(limits.valueBytes) bytes.")
            }
        }
        guard let element = XMLNames.element(name, pairs, in: open.last?.scope ?? XMLNames.outermost) else {
            throw PackagingRefusal(
                .malformed, "The element before byte \(position) has an undeclared prefix or a duplicate attribute.")
        }
        count += 1
        guard count <= limits.elements else {
            throw PackagingRefusal(.tooManyElements, "The document has more than \(limits.elements) elements.")
        }
        guard open.count < limits.depth else {
            throw PackagingRefusal(.tooDeep, "The document has more than \(limits.depth) levels.")
        }
        element.isShort = latchkey_xml_is_at_short_end(parser) != 0
        if root == nil { root = element } else { append(.element(element)) }
        open.append(element)
    }

    fileprivate func end() {
        endText()
        _ = open.popLast()
    }

    fileprivate func take(_ bytes: UnsafeBufferPointer<UInt8>) { text += bytes }

    fileprivate func append(_ node: XMLTree.Node) {
        endText()
        if let element = open.last {
            element.children.append(node)
        } else if root == nil {
            prolog.append(node)
        } else {
            epilog.append(node)
        }
    }

    private func endText() {
        guard !text.isEmpty else { return }
        open.last?.children.append(.text(String(decoding: text, as: UTF8.self)))
        text = []
    }

    /// Stops reading.
    /// - Parameter error: makes the error from the parser's byte position.
    fileprivate func stop(_ error: (Int) -> PackagingRefusal) {
        failure = failure ?? error(position)
        xmlStopParser(parser)
    }

    /// The number of bytes that the parser has read, without the line end before the document.
    private var position: Int { max(0, Int(xmlByteConsumed(parser)) - 1) }
}

extension xmlSAXHandler {
    /// Calls an `XMLTreeReader` as SAX 1 does: names come with their prefixes, and attributes with namespace declarations in order.
    fileprivate static var reader: Self {
        var handler = xmlSAXHandler()
        handler.initialized = 1
        handler.startElement = { context, name, attributes in
            var (pairs, rest) = ([(name: String, value: String)](), attributes)
            while let pair = rest, let name = pair[0] {
                pairs.append((String(xml: name), String(xml: pair[1])))
                rest = pair + 2
            }
            let reader = XMLTreeReader.of(context)
            do throws(PackagingRefusal) { try reader?.start(String(xml: name), pairs) } catch {
                reader?.stop { _ in error }
            }
        }
        handler.endElement = { context, _ in XMLTreeReader.of(context)?.end() }
        handler.characters = { context, bytes, count in
            XMLTreeReader.of(context)?.take(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        // With another receiver, libxml2 takes some blanks for layout.
        handler.ignorableWhitespace = handler.characters
        handler.cdataBlock = { context, bytes, count in
            let part = UnsafeBufferPointer(start: bytes, count: Int(count))
            XMLTreeReader.of(context)?.append(.characterData(String(decoding: part, as: UTF8.self)))
        }
        handler.comment = { context, text in XMLTreeReader.of(context)?.append(.comment(String(xml: text))) }
        handler.processingInstruction = { context, target, data in
            XMLTreeReader.of(context)?.append(.instruction(target: String(xml: target), data: String(xml: data)))
        }
        handler.internalSubset = { context, _, _, _ in XMLTreeReader.of(context)?.stop(PackagingRefusal.declaration) }
        return handler
    }
}

extension XMLTreeReader {
    /// The reader that a parser calls; it lives as long as the parser reads.
    fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> XMLTreeReader? {
        context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}

extension String {
    /// libxml2's text; empty if there is none.
    fileprivate init(xml text: UnsafePointer<UInt8>?) { self = text.map { String(cString: $0) } ?? "" }
}
