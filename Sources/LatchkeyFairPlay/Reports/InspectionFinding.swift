public import LatchkeyCore

/// A problem with an inspected SPC, CKC or certificate, or a remark about it. Never contains a secret.
public struct InspectionFinding: Sendable, Hashable, Encodable {
    /// The severity of a finding.
    public enum Severity: String, Sendable, Encodable {
        /// It will not work.
        case error
        /// It may work, but deserves a look.
        case warning
    }

    /// The severity.
    public let severity: Severity
    /// A stable name for the kind of finding.
    public let code: String
    /// What was found.
    public let reason: String
    /// What to do, in one imperative sentence.
    public let remedy: String

    /// - Parameters:
    ///   - error: the error of a parser or a key server.
    ///   - severity: the severity. Defaults to `error`.
    public init(_ error: some DiagnosableError, severity: Severity = .error) {
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
public struct BlockSummary: Sendable, Hashable, Encodable {
    /// Sixteen hexadecimal digits.
    public let tag: String
    /// The name of the tag; `nil` if it is unknown.
    public let name: String?
    /// The length of the value in bytes.
    public let valueLength: Int
    /// The length of value and padding in bytes.
    public let blockLength: Int

    init(_ block: TLLVBlock) {
        tag = block.tag.hex
        name = block.tag.name
        valueLength = block.valueLength
        blockLength = block.blockLength
    }
}
