import LatchkeyCore

/// Why a document was not read.
package struct XMLTreeError: DiagnosableError, Equatable {
    /// The kinds of failure. Names are stable.
    package enum Kind: String, Sendable, CaseIterable {
        /// More bytes than allowed.
        case tooManyBytes
        /// Elements inside elements, more levels than allowed.
        case tooDeep
        /// More elements than allowed.
        case tooManyElements
        /// A name or an attribute that is longer than allowed, or more attributes than allowed.
        case attributeTooLong
        /// A document type declaration, or any other declaration.
        case documentType
        /// Bytes in no encoding that is read, or a document that says so.
        case encoding
        /// No well-formed XML, or a prefix without a namespace.
        case malformed
    }

    /// What kind of failure it is.
    package let kind: Kind
    package let reason: String

    package var code: String { kind.rawValue }
    package var remedy: String {
        switch kind {
        case .tooManyBytes, .tooDeep, .tooManyElements, .attributeTooLong: "Send less in one document."
        case .documentType: "Leave the document type declaration and its entities out."
        case .encoding: "Send UTF-8, UTF-16 or ISO-8859-1."
        case .malformed: "Send well-formed XML 1.0 with namespaces."
        }
    }

    init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    static func malformed(at offset: Int) -> Self { Self(.malformed, "The XML is not well-formed at byte \(offset).") }

    static func declaration(at offset: Int) -> Self {
        Self(.documentType, "The document has a declaration at byte \(offset).")
    }
}
