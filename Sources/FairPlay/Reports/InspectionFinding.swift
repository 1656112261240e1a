public import LatchkeyCore

/// Something that is wrong, or worth knowing, with an inspected SPC, CKC or certificate. Never holds a secret.
public struct InspectionFinding: Sendable, Hashable, Encodable {
    /// How bad it is.
    public enum Severity: String, Sendable, Encodable {
        /// It will not work.
        case error
        /// It may work, but look at it.
        case warning
    }

    /// How bad it is.
    public let severity: Severity
    /// A stable name of the kind of finding.
    public let code: String
    /// What was found.
    public let reason: String
    /// What to do, one imperative sentence.
    public let remedy: String

    /// - Parameters:
    ///   - error: what a parser or a key server would have thrown.
    ///   - severity: how bad it is.
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

/// One block of a payload, as an inspection shows it: no value, which may be secret.
public struct BlockSummary: Sendable, Hashable, Encodable {
    /// Sixteen hexadecimal digits.
    public let tag: String
    /// What the tag is called; nil for an unknown one.
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
