public import LatchkeyCore

/// The meaning of a vendor's code according to the vendor's public page.
///
/// Source: the section about errors of the vendor's page in `Documentation/Vendors`.
@_spi(Integrations) public struct DocumentedCode: Sendable, Hashable {
    /// The kind of refusal.
    public var kind: Diagnosis.Kind
    /// The HTTP status that the page states; `nil` if it states none.
    public var status: Int?
    /// Its meaning, in one sentence; `nil` if the kind says it all.
    public var meaning: String?
    /// What to do, one imperative sentence. Defaults to the kind's.
    public var remedy: String
    /// Whether the same request may succeed later. Defaults to the kind's.
    public var isRetryable: Bool
    /// Whether new credentials may help. Defaults to the kind's.
    public var wantsNewCredentials: Bool

    /// Makes an entry.
    /// - Parameters:
    ///   - kind: the kind of refusal.
    ///   - meaning: its meaning, in one sentence.
    ///   - remedy: what to do, one imperative sentence. Defaults to the kind's.
    ///   - status: the HTTP status that the page states.
    ///   - retry: whether the same request may succeed later, where that differs from the kind's usual.
    ///   - newCredentials: whether new credentials may help, where that differs from the kind's usual.
    public init(
        _ kind: Diagnosis.Kind, _ meaning: String? = nil, _ remedy: String? = nil, status: Int? = nil,
        retry: Bool? = nil, newCredentials: Bool? = nil
    ) {
        self.kind = kind
        self.status = status
        self.meaning = meaning
        self.remedy = remedy ?? kind.remedy
        isRetryable = retry ?? kind.isRetryable
        wantsNewCredentials = newCredentials ?? kind.wantsNewCredentials
    }

    /// Whether it adds nothing to the kind.
    var isKindAlone: Bool { self == Self(kind) }
}

extension Diagnosis.Kind {
    /// Whether a service that refuses so may take another token.
    package var wantsNewCredentials: Bool { [.unauthenticated, .forbidden, .notYetValid].contains(self) }
}

extension VendorProfile {
    /// The requests whose refusals a profile tells apart.
    package enum RefusalStage: String, Sendable, Hashable, Codable, CaseIterable {
        /// The license request, and that of the certificate.
        case license
        /// The request that precedes them, such as an entitlement's.
        case lookup
        /// Opening a secure session, keeping it alive, ending it.
        case session
    }

    /// How to read the refusals of a stage; `nil` if the vendor has no such requests.
    package func errors(at stage: RefusalStage) -> ErrorRules? {
        switch stage {
        case .license: errors
        case .lookup: lookup?.errors
        case .session: session.map { $0.errors ?? errors }
        }
    }
}
