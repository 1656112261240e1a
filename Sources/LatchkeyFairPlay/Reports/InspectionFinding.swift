package import LatchkeyCore

/// A problem with an inspected SPC, CKC or certificate, or a remark about it. Never contains a secret.
package struct InspectionFinding: Sendable, Hashable, Encodable {
    /// The severity of a finding.
    package enum Severity: String, Sendable, Encodable {
        /// It will not work.
        case error
        /// It may work, but check it.
        case warning
    }

    /// The severity.
    package let severity: Severity
    /// A stable name for the kind of finding.
    package let code: String
    /// The observation.
    package let reason: String
    /// The action to take, in one imperative sentence.
    package let remedy: String

    /// - Parameters:
    ///   - error: the error of a parser or a key server.
    ///   - severity: the severity. Defaults to `error`.
    package init(_ error: some DiagnosableError, severity: Severity = .error) {
        self.init(severity, error.code, error.reason, error.remedy)
    }

    package init(_ severity: Severity, _ code: String, _ reason: String, _ remedy: String) {
        self.severity = severity
        self.code = code
        self.reason = reason
        self.remedy = remedy
    }
}

/// One block of a payload in a report. Without the value, which may be secret.
package struct BlockSummary: Sendable, Hashable, Encodable {
    /// Sixteen hexadecimal digits.
    package let tag: String
    /// The name of the tag; `nil` if it is unknown.
    package let name: String?
    /// The length of the value in bytes.
    package let valueLength: Int
    /// The length of value and padding in bytes.
    package let blockLength: Int

    init(_ block: TLLVBlock) {
        tag = block.tag.hex
        name = block.tag.name
        valueLength = block.valueLength
        blockLength = block.blockLength
    }
}
