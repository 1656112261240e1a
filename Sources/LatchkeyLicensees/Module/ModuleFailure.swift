import LatchkeyCore
package import LatchkeyFairPlay

/// Why a licensee's module made no CKC for a request.
///
/// Source: `Documentation/Licensees.md` §6.
package struct ModuleFailure: DiagnosableError, Equatable {
    /// The kinds of failure, as metrics name them. Names are stable.
    package enum Kind: String, Sendable, CaseIterable {
        /// The SPC is wrong, by the module's status.
        case refused
        /// Any other status than 0.
        case failed
        /// The worker process ended.
        case crashed
        /// The module did not answer in time.
        case timedOut
        /// Too many requests wait for the module.
        case overloaded
        /// The module cannot be started or reached.
        case unreachable
        /// Output that is not the interface's JSON, or has other items than the input.
        case garbage
        /// An item with status 0 that lacks its CKC or asset id.
        case incomplete
        /// More output than any CKCs have.
        case oversized
        /// An SPC for another asset than the client named.
        case otherAsset
        /// A CKC for another asset than the SPC's.
        case wrongEcho
        /// A term of the license that the template has no member for.
        case unmapped
    }

    /// The kind of failure.
    package let kind: Kind
    package let reason: String
    package let remedy: String
    /// The refusal of an SPC that our own KSM would refuse alike; `nil` for other kinds than `refused`.
    package private(set) var refusal: KSMRefusal?

    package var code: String {
        switch kind {
        case .refused: refusal?.code ?? "moduleFailed"
        case .crashed, .timedOut, .overloaded, .unreachable: "moduleUnavailable"
        case .unmapped: "moduleTermUnmapped"
        case .failed, .garbage, .incomplete, .oversized, .otherAsset, .wrongEcho: "moduleFailed"
        }
    }

    /// Whether the same request may succeed later.
    package var isUnavailable: Bool { code == "moduleUnavailable" }

    /// Whether the process that failed so must not be used any more.
    var endsProcess: Bool { [.crashed, .timedOut, .garbage, .oversized].contains(kind) }

    init(_ kind: Kind, _ reason: String, remedy: String = "Ask the module's author, with the time of the request.") {
        (self.kind, self.reason, self.remedy) = (kind, reason, remedy)
    }

    /// A status of the module other than 0.
    ///
    /// Source: `Documentation/Licensees.md` §6, status codes.
    init(status: Int) {
        let kind: KSMRefusal.Kind? =
            switch status {
            case -42580: .unsupportedVersion
            case -42581: .malformedContainer
            case -42583: .missingTag
            case -42590: .protocolVersion
            case -42591: .duplicateTag
            default: nil
            }
        let reason = "The licensee's module returned status \(status)."
        guard let kind else {
            self.init(.failed, reason, remedy: "Look the status up in the module's documentation.")
            return
        }
        self.init(.refused, reason)
        refusal = KSMRefusal(kind, reason: reason)
    }

    static func unmapped(_ term: String) -> Self {
        Self(
            .unmapped, "The license states \(term), and the module's template has no member for it.",
            remedy: "Add a member with {\(term.prefix { $0 != " " })} to licensee.module.members, or change the policy."
        )
    }

    static func garbage(_ what: String) -> Self { Self(.garbage, "The licensee's module returned \(what).") }

    static let crashed = Self(
        .crashed, "The worker process of the licensee's module ended during the request. Another one is started.")

    static func timedOut(_ time: Duration) -> Self {
        Self(
            .timedOut, "The licensee's module did not answer within \(Int(time.inSeconds * 1_000)) ms.",
            remedy: "Try again; if it happens often, raise licensee.module.milliseconds or ask the module's author.")
    }

    static func unreachable(_ why: String, remedy: String) -> Self {
        Self(.unreachable, "The licensee's module cannot be used. \(why)", remedy: remedy)
    }

    static let wrongEcho = Self(
        .wrongEcho, "The licensee's module returned a CKC for another asset than the SPC's; it was discarded.")

    static func otherAsset(_ stated: String?) -> Self {
        Self(
            .otherAsset, "The licensee's module opened the SPC of another asset than the key's; its CKC was discarded.",
            remedy: stated == nil
                ? "Have the app give the key URI as UTF-8 text, and ask the module's author."
                : "Send the SPC's key URI.")
    }
}
