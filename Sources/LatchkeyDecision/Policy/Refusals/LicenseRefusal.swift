public import LatchkeyCore
public import LatchkeyFairPlay

/// Why a request gets no license or no certificate. It is an answer, not a failure of the server.
public struct LicenseRefusal: DiagnosableError, Equatable {
    /// The kinds of refusal. Names are stable.
    public enum Kind: Sendable, Hashable {
        /// A method that the endpoint does not take; 405.
        case method(allowed: String)
        /// A body of a type that the endpoint does not take; 415.
        case mediaType
        /// A request that lacks something or has the wrong form; 400.
        case malformedRequest
        /// No token; 401.
        case tokenMissing
        /// A token that is not in the vendor's form; 401.
        case tokenMalformed
        /// An expired token; 401.
        case tokenExpired
        /// A token that is not valid yet; 401.
        case tokenNotYetValid
        /// A token that the vendor did not sign; 401.
        case tokenSignature
        /// A token that was used before, if each is valid for one license; 403.
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
        /// An SPC that the KSM refuses; 400, or 503 if its private key cannot be used now.
        case spc(KSMRefusal.Kind)
        /// More concurrent sessions than the customer may have; 403.
        case sessionLimit
        /// More requests than the server answers; 503.
        case overloaded
        /// A policy's refusal; 403, 429 or 503.
        case policy(PolicyObjection)
        /// A refusal with the vendor's own code.
        case vendor(code: String, status: Int)
    }

    /// The kind of refusal.
    public let kind: Kind
    public let reason: String
    public let remedy: String
    private let ownMessage: String?
    let wait: Duration?
    /// The conflicting sessions, the oldest first.
    package let conflicts: [SessionConflict]
    /// Whether only this key is left out of the answer to a request for several.
    package let leavesOut: Bool

    /// - Parameters:
    ///   - kind: the kind of refusal.
    ///   - reason: the cause, without secrets.
    ///   - remedy: what to do, one imperative sentence. Defaults to the kind's.
    public init(_ kind: Kind, reason: String, remedy: String? = nil) {
        self.init(kind, reason: reason, remedy: remedy, conflicts: [])
    }

    /// - Parameters:
    ///   - kind: the kind of refusal.
    ///   - reason: the cause, without secrets.
    ///   - remedy: what to do, one imperative sentence. Defaults to the kind's.
    ///   - message: the key of the text to show the viewer. Defaults to the code.
    ///   - retryAfter: how long to wait at least. Defaults to 1 s where waiting helps.
    ///   - conflicts: the conflicting sessions.
    ///   - leavesOut: whether only this key is left out.
    package init(
        _ kind: Kind, reason: String, remedy: String? = nil, message: String? = nil, retryAfter: Duration? = nil,
        conflicts: [SessionConflict] = [], leavesOut: Bool = false
    ) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy ?? kind.remedy
        (ownMessage, wait) = (message, retryAfter)
        self.conflicts = conflicts
        self.leavesOut = leavesOut
    }

    package init(_ refusal: KSMRefusal) {
        self.init(.spc(refusal.kind), reason: refusal.reason, remedy: refusal.remedy)
    }

    /// The HTTP status to answer with.
    public var status: Int {
        switch kind {
        case .spc(.keyUnavailable), .overloaded: 503
        case .malformedRequest, .spc: 400
        case .tokenMissing, .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature: 401
        case .tokenUsed, .notCovered, .unknownTenant, .contentMismatch, .sessionLimit: 403
        case .unknownKey, .ambiguousKey: 404
        case .method: 405
        case .mediaType: 415
        case .policy(let objection): objection.status
        case .vendor(_, let status): status
        }
    }

    /// The key of the text to show the viewer.
    package var message: String { ownMessage ?? code }

    /// How long to wait at least; `nil` unless waiting helps.
    package var retryAfter: Duration? { retry == .later ? wait ?? .seconds(1) : nil }

    public var code: String {
        switch kind {
        case .method: "method"
        case .spc(let kind): kind.rawValue
        case .policy(let objection): objection.rawValue
        case .vendor(let code, _): code
        default: "\(kind)"
        }
    }
}

extension LicenseRefusal.Kind {
    fileprivate var remedy: String {
        switch self {
        case .method(let allowed): "Use \(allowed.replacing(", ", with: " or "))."
        case .mediaType: "Set the Content-Type that the vendor documents."
        case .malformedRequest, .vendor: "Send the request as the vendor documents it."
        case .tokenMissing, .tokenExpired: "Send a fresh token."
        case .tokenMalformed: "Ask the vendor's token service for a token."
        case .tokenNotYetValid: "Compare the clocks of server and token service."
        case .tokenSignature: "Sign it with the key that the service was configured with."
        case .tokenUsed: "Send a fresh token with every request."
        case .notCovered: "Send a token that covers the key."
        case .unknownTenant: "Check the customer's name with the vendor."
        case .contentMismatch: "Create the SPC and the request from the same key URI."
        case .unknownKey: "Check the key URI in the playlist and the keys that the server has."
        case .ambiguousKey: "Name the key by its whole URI or its key identifier."
        case .spc: "Send the SPC that the player made."
        case .sessionLimit: "End playback on another device."
        case .overloaded: "Try again shortly."
        case .policy(let objection): objection.remedy
        }
    }
}
