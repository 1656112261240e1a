/// An XML document as received, to be filled in and sent back.
///
/// Keeps the order of elements and attributes, prefixes, comments, and unknown elements. Namespaces are resolved; look elements up by
/// namespace, never by prefix. Reading is bounded and refuses every document type declaration. Not `Sendable`: read, fill and write in one
/// task.
///
/// Source: `Documentation/LicenseServer.md` §3.
package struct XMLTree {
    /// A part of an element's content.
    package enum Node {
        /// An element.
        case element(Element)
        /// Text, without escapes.
        case text(String)
        /// Text that is written in a CDATA section.
        case characterData(String)
        /// A comment.
        case comment(String)
        /// A processing instruction.
        case instruction(target: String, data: String)
    }

    /// The name of an element or an attribute.
    package struct Name: Sendable, Hashable {
        /// The prefix as written; empty if there is none.
        package let prefix: String
        /// The name without its prefix.
        package let local: String
        /// The namespace of the prefix; empty for none.
        package let namespace: String

        /// The name as written.
        package var written: String { prefix.isEmpty ? local : "\(prefix):\(local)" }
    }

    /// One attribute. Declarations of namespaces are attributes, too.
    package struct Attribute: Sendable, Hashable {
        /// The name.
        package let name: Name
        /// The value, without escapes.
        package var value: String
    }

    /// The XML declaration as written, or `nil`.
    package var declaration: String?
    /// Comments and processing instructions before the root.
    package var prolog: [Node]
    /// The root.
    package var root: Element
    /// Comments and processing instructions after the root.
    package var epilog: [Node]

    /// A new document.
    /// - Parameter root: the root.
    package init(root: Element) {
        declaration = #"<?xml version="1.0" encoding="UTF-8"?>"#
        prolog = []
        self.root = root
        epilog = []
    }
}
