extension XMLTree {
    /// Why a document was not read; the codes of the refusal. Names are stable.
    package enum Fault: String, Sendable, CaseIterable {
        /// More bytes than allowed.
        case tooManyBytes
        /// Elements nested deeper than allowed.
        case tooDeep
        /// More elements than allowed.
        case tooManyElements
        /// A name or an attribute that is longer than allowed, or more attributes than allowed.
        case attributeTooLong
        /// A document type declaration, or any other declaration.
        case documentType
        /// Bytes in an unsupported encoding, or a document that declares one.
        case encoding
        /// Not well-formed XML, or a prefix without a namespace.
        case malformed

        fileprivate var status: Int {
            switch self {
            case .tooManyBytes, .tooDeep, .tooManyElements, .attributeTooLong: 413
            case .documentType, .encoding, .malformed: 400
            }
        }

        fileprivate var remedy: String {
            switch self {
            case .tooManyBytes, .tooDeep, .tooManyElements, .attributeTooLong: "Send a smaller document."
            case .documentType: "Omit the document type declaration and its entities."
            case .encoding: "Send UTF-8, UTF-16 or ISO-8859-1."
            case .malformed: "Send well-formed XML 1.0 with namespaces."
            }
        }
    }
}

extension PackagingRefusal {
    init(_ fault: XMLTree.Fault, _ reason: String) {
        self.init(code: fault.rawValue, reason, status: fault.status, remedy: fault.remedy)
    }

    static func malformed(at offset: Int) -> Self { Self(.malformed, "The XML is not well-formed at byte \(offset).") }

    static func declaration(at offset: Int) -> Self {
        Self(.documentType, "The document has a declaration at byte \(offset).")
    }
}
