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

    init(_ severity: Severity, _ code: String, _ reason: String, _ remedy: String) {
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

/// License terms as an inspection shows them: whole seconds, and only what was stated.
public struct TermsSummary: Sendable, Hashable, Encodable {
    /// `unlimited`, `lease`, `rental`, `leaseAndRental`, `persistent`, `persistentFor` or `dualExpiry`.
    public let kind: String
    /// Seconds within which the key has to be renewed.
    public let lease: Int64?
    /// Seconds within which playback has to start.
    public let rental: Int64?
    /// Seconds for which the key may be stored.
    public let storage: Int64?
    /// Seconds for which a stored key plays from its first start on.
    public let playback: Int64?
    /// The display requirement; nil where none was stated.
    public let hdcp: HDCPRequirement?

    /// - Parameter terms: what a CKC states, or shall state.
    public init(_ terms: LicenseTerms) {
        let seconds = { (duration: Duration?) in duration.map(\.components.seconds) }
        let (kind, lease, rental, storage, playback) = Self.parts(terms.validity)
        self.kind = kind
        self.lease = seconds(lease)
        self.rental = seconds(rental)
        self.storage = seconds(storage)
        self.playback = seconds(playback)
        hdcp = terms.hdcp
    }

    private static func parts(
        _ validity: LicenseTerms.Validity
    ) -> (String, lease: Duration?, rental: Duration?, storage: Duration?, playback: Duration?) {
        switch validity {
        case .unlimited: ("unlimited", nil, nil, nil, nil)
        case .lease(let lease): ("lease", lease, nil, nil, nil)
        case .rental(let rental): ("rental", nil, rental, nil, nil)
        case .leaseAndRental(let lease, let rental): ("leaseAndRental", lease, rental, nil, nil)
        case .persistent: ("persistent", nil, nil, nil, nil)
        case .persistentFor(let storage): ("persistentFor", nil, nil, storage, nil)
        case .dualExpiry(let storage, let playback): ("dualExpiry", nil, nil, storage, playback)
        }
    }
}
