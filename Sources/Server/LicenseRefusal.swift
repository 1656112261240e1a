public import LatchkeyCore
public import LatchkeyFairPlay

/// Why a request gets no license or no certificate. A value to answer with, not a failure of the server.
public struct LicenseRefusal: DiagnosableError, Equatable {
    /// The kinds of refusal. Names are stable.
    public enum Kind: Sendable, Hashable {
        /// Another method than the endpoint takes; 405.
        case method(allowed: String)
        /// A body of a type that the endpoint does not take; 415.
        case mediaType
        /// A request that lacks something or says it in a wrong form; 400.
        case malformedRequest
        /// No token; 401.
        case tokenMissing
        /// A token in a form that the vendor does not have; 401.
        case tokenMalformed
        /// A token whose time is over; 401.
        case tokenExpired
        /// A token whose time has not come; 401.
        case tokenNotYetValid
        /// A token that the vendor did not sign; 401.
        case tokenSignature
        /// A token that was used before, where each is good for one license; 403.
        case tokenUsed
        /// A token for other keys or other content; 403.
        case notCovered
        /// A customer that the service does not know; 403.
        case unknownTenant
        /// Parts of the request, or request and SPC, that name different keys; 403.
        case contentMismatch
        /// A key that the service does not have; 404.
        case unknownKey
        /// A name that fits several keys; 404.
        case ambiguousKey
        /// An SPC that the KSM refuses; 400.
        case spc(KSMRefusal.Kind)
        /// More sessions at once than the customer may have; 403.
        case sessionLimit
        /// More requests than the server answers; 503.
        case overloaded
        /// A refusal with a code of the vendor's own.
        case vendor(code: String, status: Int)
    }

    /// What kind of refusal it is.
    public let kind: Kind
    public let reason: String
    public let remedy: String

    /// - Parameters:
    ///   - kind: what kind of refusal it is.
    ///   - reason: what happened, without secrets.
    ///   - remedy: what to do, one imperative sentence.
    public init(_ kind: Kind, reason: String, remedy: String) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy
    }

    /// The HTTP status to answer with.
    public var status: Int {
        switch kind {
        case .malformedRequest, .spc: 400
        case .tokenMissing, .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature: 401
        case .tokenUsed, .notCovered, .unknownTenant, .contentMismatch, .sessionLimit: 403
        case .unknownKey, .ambiguousKey: 404
        case .method: 405
        case .mediaType: 415
        case .overloaded: 503
        case .vendor(_, let status): status
        }
    }

    public var code: String {
        switch kind {
        case .method: "method"
        case .spc(let kind): kind.rawValue
        case .vendor(let code, _): code
        default: "\(kind)"
        }
    }
}

extension LicenseRefusal {
    init(_ refusal: KSMRefusal) { self.init(.spc(refusal.kind), reason: refusal.reason, remedy: refusal.remedy) }

    static let emptySPC = LicenseRefusal(
        .malformedRequest, reason: "The request has no SPC.", remedy: "Send the SPC that the player made.")

    static let overloaded = LicenseRefusal(
        .overloaded, reason: "The server has more requests waiting than it takes on.", remedy: "Try again shortly.")

    static func unknownKey(_ name: String) -> LicenseRefusal {
        LicenseRefusal(
            .unknownKey, reason: "There is no key “\(shown(name))”.",
            remedy: "Check the key URI in the playlist and the keys that the server has.")
    }

    static func ambiguousKey(_ name: String) -> LicenseRefusal {
        LicenseRefusal(
            .ambiguousKey, reason: "“\(shown(name))” names several keys.",
            remedy: "Name the key by its whole URI or its key identifier.")
    }

    static func contentMismatch(_ name: String, _ asset: String) -> LicenseRefusal {
        LicenseRefusal(
            .contentMismatch,
            reason: "The request is for “\(shown(name))” and its SPC for “\(shown(asset))”.",
            remedy: "Make SPC and request from the same key URI.")
    }

    /// A name without secrets: a key URI's query may carry a token.
    private static func shown(_ name: String) -> String {
        Redaction.standard.redacted(urlText: String(name.prefix(200)))
    }
}
