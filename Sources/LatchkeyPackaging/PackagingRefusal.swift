import LatchkeyCore
package import LatchkeyDecision

/// Why a packager gets no keys, or why its document is refused. It is an answer, and never contains a key.
///
/// Source: `Documentation/LicenseServer.md` §2.2 and §3.
package struct PackagingRefusal: DiagnosableError, Equatable {
    /// The status: 400 for XML and JSON, 413 if too large, 422 for a protocol's refusals, 503 for a failing source of keys or libcrypto.
    package let status: Int
    /// The place, such as `ContentKey 3`; empty for the whole document.
    package let place: String
    package let code: String
    /// What happened; the body of SPEKE's reply.
    package let reason: String
    package let remedy: String
    /// Why the source of the keys failed, for logs; the reply does not say it.
    package private(set) var cause: String?

    init(code: String, at place: String = "", _ reason: String, status: Int = 422, remedy: String) {
        self.code = code
        self.place = place
        self.status = status
        self.reason = reason
        self.remedy = remedy
    }

    /// The same, with the cause for the log.
    func caused(by error: any Error) -> Self {
        var refusal = self
        refusal.cause = (error as? any DiagnosableError)?.reason
        return refusal
    }
}

extension LicenseRefusal {
    /// A refusal that a packager's protocol answers in its own form.
    package init(_ refusal: PackagingRefusal) {
        let reason = [refusal.reason, refusal.cause].compactMap { $0 }.joined(separator: ": ")
        self.init(.vendor(code: refusal.code, status: refusal.status), reason: reason, remedy: refusal.remedy)
    }
}
